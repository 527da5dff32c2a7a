"""The colours of tree pictures, legible on light and dark pages."""

INK = "currentColor"
LEAF = "var(--jp-brand-color1, #1976d2)"
MARK = "#c2500c"  # dark enough under white letters, light enough on a black page
FADED = ".65"  # opacity: names still have a contrast of 4.5 to 1 on a white page
