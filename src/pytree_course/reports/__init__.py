"""The gradebook as terminal output, tables and pages."""
