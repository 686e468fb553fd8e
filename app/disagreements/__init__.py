"""Steps on which authors disagree."""
