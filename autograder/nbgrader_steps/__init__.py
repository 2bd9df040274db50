"""The course's own steps in nbgrader: settings, autograding, feedback."""
