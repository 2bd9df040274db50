"""Hidden checks of unit 02."""

from autograder.checking import expect as checking


@checking.check("mean", share=1, title="The mean of one number is that number")
def test_mean(student, draw):
    """Compare with the number."""
    checking.expect_equal(student.mean_of_one(3.0), 3.0, "the mean")


@checking.check(exercise="middle", share=1, title="The middle lies between")
def test_middle(student, draw):
    """Compare with the formula."""
    checking.expect_equal(student.middle(1.0, 3.0), 2.0, "the middle")
