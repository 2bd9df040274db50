"""Values arrive whole, and the grader refuses anything that is not a message."""

import json
import socket
import time

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox.student_side.messages import (
    HEADER,
    MAGIC,
    Channel,
    ChannelClosed,
    FrameLimits,
    Message,
    ProtocolError,
)
from autograder.sandbox.student_side.values import DTYPES, Decoder, Encoder


def refuse(reference):
    raise ProtocolError("no references here")


def decoded(body, blob=b""):
    return Decoder(Message({"x": body}, bytearray(blob)), refuse, False).part("x")


def crossed(value):
    message = Encoder(refuse).message(x=value)
    body = json.loads(json.dumps(message.body))
    return Decoder(Message(body, message.blob), refuse).part("x")


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
hashable = st.integers() | st.text() | st.tuples(st.integers(), st.text())
values = st.recursive(
    plain | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(hashable, inner)
        | st.sets(hashable)
    ),
    max_leaves=20,
)


@pytest.mark.integration
@given(values)
def test_plain_values_cross_whole(value):
    assert crossed(value) == value


class Lying(numpy.float32):
    def item(self, *args):
        raise AssertionError("the student's code ran")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (numpy.prod((3, 4)), 12),
        (numpy.float32(0.5), 0.5),
        (numpy.float64(0.5), 0.5),
        (numpy.bool_(True), True),
        (Lying(0.5), 0.5),
    ],
)
def test_one_number_of_numpy_crosses_as_a_plain_one(value, plain):
    got = crossed(value)
    assert got == plain and type(got) is type(plain)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_tensors_cross_whole(dtype, shape):
    tensor = (torch.randn(shape) * 5).to(dtype)
    got = crossed([tensor, {"again": tensor}])
    assert got[0].dtype == dtype
    assert got[0].shape == shape
    assert torch.equal(got[0], tensor)
    assert torch.equal(got[1]["again"], tensor)


def test_other_values_cross():
    parameter = torch.nn.Parameter(torch.ones(2))
    got = crossed(
        [
            torch.float16,
            torch.device("cpu"),
            1 + 2j,
            slice(1, None, 2),
            parameter,
            torch.Size([2, 3]),
        ]
    )
    assert got[:4] == [torch.float16, torch.device("cpu"), 1 + 2j, slice(1, None, 2)]
    assert type(got[4]) is torch.Tensor
    assert got[5] == (2, 3)


@pytest.mark.parametrize(
    "body",
    [
        {"tensor": ["float32", [2], None, 0]},
        {"tensor": ["float32", [-1], None, 0]},
        {"tensor": ["float32", [1], None, -4]},
        {"tensor": ["float32", [True], None, 0]},
        {"tensor": ["object", [1], None, 0]},
        {"tensor": ["float32", [1 << 62, 1 << 62], None, 0]},
        {"tensor": ["float32", [1] * 100, None, 0]},
        {"tensor": 3},
        {"dtype": "load"},
        {"dtype": "__class__"},
        {"device": "nowhere"},
        {"dict": [[1]]},
        {"dict": [[{"list": []}, 1]]},
        {"list": 7},
        {"pickle": "gASV"},
        {"list": [], "tuple": []},
        {"handle": [1, "Linear"]},
        {"load": ["os.system", None]},
        [1, 2],
    ],
    ids=str,
)
def test_what_is_no_value_is_refused(body):
    with pytest.raises(ProtocolError):
        decoded(body, b"\0" * 4)


def test_depth_and_number_of_values_are_limited():
    deep = {"list": []}
    for _ in range(40):
        deep = {"list": [deep]}
    with pytest.raises(ProtocolError):
        decoded(deep)
    with pytest.raises(ProtocolError):
        decoded({"list": [0] * 600_000})


PRIME = (1 << 61) - 1  # integers that differ by a multiple have the same hash
MANY = 50_000


@pytest.mark.parametrize(
    "sent",
    [
        {"set": [n * PRIME for n in range(MANY)]},
        {"frozenset": [n * -PRIME for n in range(MANY)]},
        {"dict": [[n * PRIME, 0] for n in range(MANY)]},
        {"list": [n * PRIME for n in range(MANY)]},  # a check may put them into a set
        {"set": [{"tuple": [n, -n]} for n in range(MANY)]},
        {"set": [float(n) for n in range(MANY)]},
    ],
    ids=["set", "frozenset", "dict", "list", "tuples", "floats"],
)
def test_what_may_have_one_hash_takes_no_time(sent):
    started = time.process_time()
    with pytest.raises(ProtocolError, match="too many"):
        decoded(sent)
    assert time.process_time() - started < 5


def test_many_texts_and_some_numbers_cross():
    words = {f"word {n}": n for n in range(MANY)}
    assert crossed(words) == words
    some = {*range(5_000), *(n * PRIME for n in range(50))}
    assert crossed(some) == some
    assert crossed([10**400]) == [10**400]


def test_tensors_hold_no_more_than_their_message():
    """Thirty tensors that share the same bytes would be thirty times as large."""
    one = {"tensor": ["uint8", [4], None, 0]}
    assert decoded({"list": [one]}, b"\0" * 4)[0].tolist() == [0] * 4
    assert len(decoded({"list": [one, one]}, b"\0" * 8)) == 2
    with pytest.raises(ProtocolError, match="larger than their message"):
        decoded({"list": [one, one]}, b"\0" * 4)


def test_an_empty_tensor_has_no_endless_side():
    assert decoded({"tensor": ["float32", [0, 5], None, 0]}).shape == (0, 5)
    with pytest.raises(ProtocolError, match="too large a shape"):
        decoded({"tensor": ["float32", [0, 1 << 40], None, 0]})


def test_bools_are_only_true_and_false():
    got = decoded({"tensor": ["bool", [3], None, 0]}, b"\x00\x01\xff")
    assert got.tolist() == [False, True, True]
    assert got.view(torch.uint8).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        HEADER.pack(MAGIC, 1 << 30, 0),
        HEADER.pack(MAGIC, 2, 1 << 60) + b"{}",
        HEADER.pack(MAGIC, 3, 0) + b"[1]",
        HEADER.pack(MAGIC, 4, 0) + b"\xff\xfe{}",
        HEADER.pack(MAGIC, 100_000, 0) + b"[" * 100_000,
    ],
)
def test_what_is_no_frame_is_refused(sent):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        channel = Channel(ours, FrameLimits(1 << 20, 1 << 20))
        with pytest.raises(ProtocolError):
            channel.receive()


def test_a_channel_that_is_closed_in_a_message_says_so():
    ours, theirs = socket.socketpair()
    with ours:
        theirs.sendall(HEADER.pack(MAGIC, 50, 0) + b"{")
        theirs.close()
        with pytest.raises(ChannelClosed):
            Channel(ours).receive()
