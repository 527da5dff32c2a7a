"""The hostile corpus: what students may hand in, and the verdict that it must get."""
