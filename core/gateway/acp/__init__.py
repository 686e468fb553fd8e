"""The Agent Client Protocol, as a client speaks it: JSON-RPC 2.0 in lines over an agent's input and output.

Version 1 (agentclientprotocol.com). The agent reads and writes files and runs commands itself: none of that is offered
here. Its contexts and steps are known from its model endpoint; here it is prompted, asks for leave, and shows what its
calls did, which goes to the session at its gateway.

Needs nothing but Python 3.9: `tiphys attach --acp` speaks so from where it is started, and a session's runner lays this
very package into the sandbox, as one file, which is the program of the agent's terminal (`program.py`).
"""
