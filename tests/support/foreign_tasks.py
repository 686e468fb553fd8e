"""Small task folders in the layouts of other programs: relative path → text."""

from __future__ import annotations

HARBOR = {
    "task.toml": """
schema_version = "1.1"
artifacts = []
[task]
name = "lab/count-lines"
description = "Counts lines."
[metadata]
difficulty = "easy"
category = "text"
[verifier]
timeout_sec = 60.0
[agent]
timeout_sec = 900.0
[environment]
build_timeout_sec = 600.0
cpus = 2
memory = "3G"
storage_mb = 4096
gpus = 0
network_mode = "no-network"
mcp_servers = []
""",
    "instruction.md": "Count the lines of /app/text and write the number to /app/count.\n",
    "environment/Dockerfile": "ARG BASE=base\nFROM ${BASE}:1\nWORKDIR /app\nCOPY text /app/text\nCMD [\"/bin/bash\"]\n",
    "environment/text": "a\nb\n",
    "tests/test.sh": "test $(cat /app/count) = 2 && echo 1 > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "wc -l < /app/text > /app/count\n",
}
TERMINAL_BENCH = {
    "task.yaml": "instruction: |-\n  Count the lines of /app/text into /app/count.\nauthor_name: A\ndifficulty: easy\n"
                 "category: text\ntags:\n  - text\nparser_name: pytest\nmax_agent_timeout_sec: 900.0\n"
                 "max_test_timeout_sec: 90.0\nrun_tests_in_same_shell: false\n",
    "docker-compose.yaml": """
services:
  client:
    build:
      dockerfile: Dockerfile
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: [ "sh", "-c", "sleep infinity" ]
    environment:
      - TEST_DIR=${T_BENCH_TEST_DIR}
    volumes:
      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}
      - ${T_BENCH_TASK_AGENT_LOGS_PATH}:${T_BENCH_CONTAINER_AGENT_LOGS_PATH}
""",
    "Dockerfile": "FROM base:1\nWORKDIR /app\nCOPY text /app/text\n",
    "text": "a\nb\n",
    "run-tests.sh": "#!/bin/bash\nid -u > /root/who\npython3 -m pytest $TEST_DIR/test_outputs.py\n",
    "tests/test_outputs.py": "import os\n\ndef test_count():\n    assert open('/app/count').read().strip() == '2'\n\n"
                             "def test_root():\n    print('FAILED by the agent')\n    assert os.getuid() == 0\n",
    "solution.sh": "wc -l < /app/text > /app/count\n",
}
ENDLESS = {
    "task.json": '{"description": "Write done to /home/user/out.", "truth": "done", "name": "task_000000_0a1b2c3d"}',
    "container.def": """Bootstrap: localimage
From: ./ubuntu_22.04.sif

%post
    mkdir -p /home/user
    cat > /home/user/in <<EOF
one
EOF

%environment
    export LC_ALL=C.UTF-8
""",
    "test_initial_state.py": "def test_in(): pass\n",
    "test_final_state.py": "def test_out(): assert open('/home/user/out').read() == 'done'\n",
}
INNOVATOR = {
    "gym/task_30/task/task_description.md": "# Learn to add\n\nWrite data/outputs/answer.json.\n",
    "gym/task_30/task/scripts/train.py": "print(1)\n",
    "gym/task_30/data/train.json": "[]",
    "evaluations/base/base_eval.py": "",
    "evaluations/task_30/task/evaluation.py": "class TaskBenchmark: ...\n",
    "evaluations/task_30/task/config.py": "class TaskConfig: ...\n",
    "evaluations/task_30/data/references/truth.json": "[]",
    "configs/task_30.yaml": "task_name: task_30\nmax_working_time: 3600  # an hour\nmax_steps: 50\nkey: null\n",
}

BASE = """
class Result:
    def __init__(self, result): self.result = result
    def to_dict(self): return {"task_name": "t", "eval_results": self.result}
class BaseBenchmark:
    def __init__(self, config=None): self.config = config
    def validate(self): return [Result(self.run_1())]
"""
CONFIG = """
class TaskConfig:
    def __init__(self, eval_workspace, workspace): self.eval_workspace, self.workspace = eval_workspace, workspace
"""
