"""The gradebook as terminal output, tables, plots and pages."""
