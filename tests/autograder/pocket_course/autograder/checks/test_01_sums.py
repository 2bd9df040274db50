"""Hidden checks of unit 01."""

from autograder.checking.expect import check, expect_equal


@check("add-up", share=1, title="The sum is right")
def test_sum(student, draw):
    """Compare with Python's own sum."""
    secret_numbers_of_the_check = [draw.integer(1, 9) for _ in range(5)]
    found = student.add_up(secret_numbers_of_the_check)
    expect_equal(found, sum(secret_numbers_of_the_check), "the sum")
