"""A session as one HTML file for people without this program: task, outline, cited steps, remarks."""
