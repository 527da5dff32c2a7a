"""A class in one room: what learners' checks found, shown to the teacher while they work."""
