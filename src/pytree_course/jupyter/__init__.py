"""Settings and a front-end script that the wheel installs where Jupyter finds them."""
