"""Author's tools: sources to notebooks and the learners' bundle."""
