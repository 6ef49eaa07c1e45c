"""
Two reports of the same questions: what moved, by how much, and whether that is more than chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rageval_trace.reports.permutation import PairedTest, holm, paired_test
from rageval_trace.reports.saved import SavedReport

__all__ = ["Comparison", "MetricChange", "WorseRecord", "compare_reports"]

ALPHA = 0.05
_TOLERANCE = 1e-9
# Values of these are the same on every run; any other judge is a model's.
_FORMULAS = frozenset({"none", "lexical", "lexical_fallback"})


@dataclass(frozen=True, slots=True)
class MetricChange:
    """
    How one metric moved over the records that both reports define it on.

    Args:
        name: The metric.
        higher_is_better: Its direction.
        base: Its mean over the pairs in the base report; None without pairs.
        new: The same in the new one.
        test: The change, new minus base.
        judged: A model judged it, in either report: a change may be the judge's.
        gated: It is among the metrics that may fail the comparison.
        adjusted_p: The p-value, Holm-adjusted over the gated metrics that are tested; None for others.
    """

    name: str
    higher_is_better: bool
    base: float | None
    new: float | None
    test: PairedTest
    judged: bool = False
    gated: bool = False
    adjusted_p: float | None = None

    @property
    def worse(self) -> bool:
        """
        Tell whether the mean moved in the bad direction at all.
        """
        change = self.test.mean or 0.0
        return (change if self.higher_is_better else -change) < -_TOLERANCE

    @property
    def regressed(self) -> bool:
        """
        Tell whether a gated metric got worse by more than chance (5 %, Holm-adjusted).
        """
        return self.worse and self.adjusted_p is not None and self.adjusted_p <= ALPHA


@dataclass(frozen=True, slots=True)
class WorseRecord:
    """
    A record that got worse, by the metric that fell most.

    Args:
        id: The record's id.
        metric: The metric that fell most.
        base: Its score then.
        new: Its score now.
    """

    id: str
    metric: str
    base: float
    new: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """
    Two reports compared.

    Args:
        pairs: Records in both.
        changes: One a metric in both.
        worse: The records that got worse, most first.
        only_base: Ids that the base report alone holds, in its order.
        only_new: Ids that the new one alone holds.
        warnings: What a person should know before trusting the numbers.
        blocked: Why a gated metric could not be tested; empty when all could.
    """

    pairs: int
    changes: tuple[MetricChange, ...]
    worse: tuple[WorseRecord, ...]
    only_base: tuple[str, ...]
    only_new: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()

    @property
    def regressed(self) -> tuple[str, ...]:
        """
        Return the gated metrics that got worse by more than chance.
        """
        return tuple([change.name for change in self.changes if change.regressed])


def compare_reports(
    base: SavedReport, new: SavedReport, *, gated: Iterable[str] | None = None, test_judged: bool = False
) -> Comparison:
    """
    Pair two reports by record id and test every metric that both hold.

    Args:
        base: The older report.
        new: The newer one.
        gated: Metrics whose change may fail the comparison; those with a gate in the new report, else in the base,
            for None.
        test_judged: Test gated metrics that a model judged, too; otherwise they are warned of.
    """
    shared = [key for key in base.scores if key in new.scores]
    wanted = tuple(gated) if gated is not None else new.gated or base.gated
    changes = [_change(name, base, new, shared, wanted) for name in base.metrics if name in new.metrics]
    changes, unproven = _adjusted(changes, test_judged)
    return Comparison(
        pairs=len(shared),
        changes=tuple(changes),
        worse=_worse_records(base, new, shared, [change for change in changes if change.gated or not wanted]),
        only_base=tuple([key for key in base.scores if key not in new.scores]),
        only_new=tuple([key for key in new.scores if key not in base.scores]),
        warnings=(*_warnings(base, new), *unproven),
        blocked=_blocked(wanted, changes),
    )


def _change(
    name: str, base: SavedReport, new: SavedReport, shared: Sequence[str], gated: Sequence[str]
) -> MetricChange:
    pairs = [
        (old, now)
        for key in shared
        if (old := base.scores[key].get(name)) is not None and (now := new.scores[key].get(name)) is not None
    ]
    count = len(pairs)
    judges = {*base.metrics[name].judges, *new.metrics[name].judges}
    return MetricChange(
        name=name,
        higher_is_better=new.metrics[name].higher_is_better,
        base=sum([old for old, _ in pairs]) / count if count else None,
        new=sum([now for _, now in pairs]) / count if count else None,
        test=paired_test([now - old for old, now in pairs]),
        judged=bool(judges - _FORMULAS),
        gated=name in gated,
    )


def _adjusted(changes: Sequence[MetricChange], test_judged: bool) -> tuple[list[MetricChange], list[str]]:
    """
    Adjust the p-values of the gated metrics that are tested; return with warnings about the others that got worse.
    """
    tested = [change for change in changes if change.gated and change.test.pairs and (test_judged or not change.judged)]
    p_values = [change.test.p_value or 0.0 for change in tested]
    adjusted = dict(zip([change.name for change in tested], holm(p_values), strict=True))
    warnings = [
        f"{change.name} got worse ({change.test.mean:+.3f}, p = {change.test.p_value:.3f}), but a model judged it"
        for change in changes
        if change.gated and change.judged and not test_judged and change.worse and (change.test.p_value or 1.0) <= ALPHA
    ]
    warnings += [
        f"{change.name}: {change.test.pairs} pairs are too few to show any change at 5 %"
        for change in tested
        if change.test.pairs < 6
    ]
    return [replace(change, adjusted_p=adjusted.get(change.name)) for change in changes], warnings


def _blocked(wanted: Iterable[str], changes: Iterable[MetricChange]) -> tuple[str, ...]:
    pairs = {change.name: change.test.pairs for change in changes}
    return tuple(
        [
            f"{name} is not in both reports" if name not in pairs else f"{name} is defined on no record of both reports"
            for name in wanted
            if not pairs.get(name)
        ]
    )


def _worse_records(
    base: SavedReport, new: SavedReport, shared: Sequence[str], changes: Sequence[MetricChange]
) -> tuple[WorseRecord, ...]:
    found: list[tuple[float, int, WorseRecord]] = []
    for at, key in enumerate(shared):
        drops = list(_drops(key, base.scores[key], new.scores[key], changes))
        if drops:
            drop, record = max(drops, key=lambda pair: pair[0])
            found.append((-drop, at, record))
    return tuple([record for _, _, record in sorted(found, key=lambda entry: entry[:2])])


def _drops(
    key: str,
    before: Mapping[str, float | None],
    after: Mapping[str, float | None],
    changes: Sequence[MetricChange],
) -> Iterator[tuple[float, WorseRecord]]:
    for change in changes:
        old, now = before.get(change.name), after.get(change.name)
        if old is not None and now is not None:
            drop = old - now if change.higher_is_better else now - old
            if drop > _TOLERANCE:
                yield drop, WorseRecord(key, change.name, old, now)


def _warnings(base: SavedReport, new: SavedReport) -> tuple[str, ...]:
    warnings = []
    if base.scoring_version != new.scoring_version:
        warnings.append(
            f"the scoring versions differ ({base.scoring_version} and {new.scoring_version}): a change may be the "
            "formulas', so score both again with one version"
        )
    elif base.evaluator_version != new.evaluator_version:
        warnings.append(
            f"the configs differ ({base.evaluator_version} and {new.evaluator_version}): a change may be the config's"
        )
    for name in base.metrics:
        if name in new.metrics and set(base.metrics[name].judges) != set(new.metrics[name].judges):
            judges = [" and ".join(report.metrics[name].judges) or "nobody" for report in (base, new)]
            if "nobody" not in judges:
                warnings.append(f"{name} was judged by {judges[0]}, then by {judges[1]}: a change may be the judge's")
    for word, report in (("base", base), ("new", new)):
        if report.unnamed:
            warnings.append(f"{report.unnamed} records of the {word} report have no id and cannot be paired")
        if report.count > len(report.scores) + report.unnamed:
            held = len(report.scores) + report.unnamed
            warnings.append(f"the {word} report holds {held} of its {report.count} records")
    return tuple(warnings)
