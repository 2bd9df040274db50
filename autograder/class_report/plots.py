"""Draw the report's figures as SVG elements for the page."""

from __future__ import annotations

import io
import math
from statistics import median

import matplotlib
from matplotlib.figure import Figure

from autograder.class_report.report import ClassReport

BLUE, ORANGE, GREY = "#2a6fb0", "#c05d00", "#767676"
SIZE = (7.2, 2.8)


def score_histogram(report: ClassReport) -> tuple[str, str]:
    """Draw a histogram of the students' points; return the SVG and a description."""
    scores = [row.score for row in report.graded if row.score is not None]
    figure, axes = _figure()
    bins = [report.max_score * part / 20 for part in range(21)]
    counts, _, _ = axes.hist(scores, bins, color=BLUE, edgecolor="white")
    axes.set_xlabel(f"points of {report.max_score:g}")
    _whole_numbers(axes, float(max(counts, default=0)))
    told = report.words.told
    words = told("Histogram of the points of {n} students").format(n=len(scores))
    if scores:
        axes.axvline(median(scores), color=ORANGE, linestyle="--", label="median")
        axes.legend(frameon=False)
        ends = {"low": f"{min(scores):g}", "high": f"{max(scores):g}"}
        words += told(", from {low} to {high}, median {middle}.").format(
            **ends, middle=f"{median(scores):g}"
        )
    return _svg(figure), words


def pass_rates(report: ClassReport) -> tuple[str, str]:
    """Draw each exercise's mean share of points and its share of full marks."""
    exercises = [one for one in report.exercises() if one.mean is not None]
    figure, axes = _figure(height=0.9 + 0.42 * max(len(exercises), 1))
    places = range(len(exercises))
    full = [100 * (one.full or 0) for one in exercises]
    mean = [100 * (one.mean or 0) for one in exercises]
    axes.barh(places, full, 0.7, color=BLUE, label="all points")
    axes.plot(mean, places, "D", color=ORANGE, label="points on average")
    axes.set_yticks(places, [one.name for one in exercises])
    axes.invert_yaxis()
    axes.set_xlim(0, 105)
    axes.set_xlabel("% of the students; % of the points")
    axes.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    told = report.words.told
    each = told("{name}: {full} % have all points, {mean} % of the points on average")
    words = "; ".join(
        each.format(name=one.name, full=f"{f:.0f}", mean=f"{m:.0f}")
        for one, f, m in zip(exercises, full, mean, strict=True)
    )
    return _svg(figure), told("Bars, an exercise each. {words}.").format(words=words)


def grading_times(report: ClassReport) -> tuple[str, str]:
    """Draw a histogram of how long the submissions took to grade."""
    seconds = [row.seconds for row in report.graded if row.seconds]
    figure, axes = _figure()
    if seconds:
        low, high = math.log10(min(seconds)), math.log10(max(seconds))
        low, high = math.floor(low * 5) / 5, math.floor(high * 5 + 1) / 5
        steps = max(round((high - low) * 5), 1)
        bins = [10 ** (low + part / 5) for part in range(steps + 1)]
        counts, _, _ = axes.hist(seconds, bins, color=GREY, edgecolor="white")
        axes.set_xscale("log")
        _whole_numbers(axes, float(max(counts)))
    axes.set_xlabel("seconds, logarithmic")
    told = report.words.told
    words = told("Histogram of the grading times of {n} submissions")
    words = words.format(n=len(seconds))
    if seconds:
        words += told(", median {middle} s, longest {longest} s.").format(
            middle=f"{median(seconds):.1f}", longest=f"{max(seconds):.1f}"
        )
    return _svg(figure), words


def _figure(height: float = SIZE[1]) -> tuple[Figure, matplotlib.axes.Axes]:
    figure = Figure(figsize=(SIZE[0], height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _whole_numbers(axes: matplotlib.axes.Axes, most: float) -> None:
    axes.locator_params(axis="y", integer=True)
    axes.set_ylim(0, max(most * 1.1, 1))
    axes.set_ylabel("students")


def _svg(figure: Figure) -> str:
    """Return a figure as an SVG element; equal figures give equal text."""
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "course"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
