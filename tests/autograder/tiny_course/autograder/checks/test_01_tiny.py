"""Hidden checks of the tiny unit, with the words CANARY-CHECKS."""

from autograder.checking.expect import check, expect_close, expect_shape


@check("double", share=1, title="The shape is kept")
def test_double_shape(student, draw):
    expect_shape(student.double(draw.normal(2, 3)), (2, 3), "the result")


@check("double", share=2, title="Every value is doubled", hint="Multiply by 2.")
def test_double_values(student, draw):
    x = draw.normal(4, 5)
    mistakes = {"the square": lambda: x * x, "what went in": lambda: x}
    expect_close(student.double(x), 2 * x.double(), "the result", mistakes)


@check("quadruple", share=1, title="Four times as much")
def test_quadruple_values(student, draw):
    x = draw.normal(4, 5)
    expect_close(student.quadruple(x), 4 * x.double(), "the result")


@check("scaler", share=2, title="Every feature has its weight")
def test_scaler_values(student, draw):
    module = student.Scaler(3)
    state = draw.state({"weight": (3,)})
    module.load_state_dict(state)
    x = draw.normal(2, 3)
    expect_close(module(x), x.double() * state["weight"].double(), "the result")


@check("scaler", share=1, title="The gradient reaches the weight")
def test_scaler_gradient(student, draw):
    module = student.Scaler(3)
    x, upstream = draw.normal(2, 3), draw.normal(2, 3)
    run = student.gradients(module, x, upstream=upstream)
    wanted = (x.double() * upstream.double()).sum(0)
    expect_close(run.parameters["weight"], wanted, "the gradient of weight")


@check(
    "scaler",
    share=1,
    title="Without nn.Linear",
    bans=("Scaler", ["torch.nn.Linear"]),
)
def test_scaler_is_written(student, draw):
    expect_shape(student.Scaler(3)(draw.normal(2, 3)), (2, 3), "the result")
