"""The colours of tree pictures, legible on light and dark pages."""

INK = "currentColor"
LEAF = "var(--jp-brand-color1, #1976d2)"
MARK = "#c2500c"  # dark enough under white letters, light enough on a black page
