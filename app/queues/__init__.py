"""The list of what there is to work through: mine, queues, saved filters, servers."""
