"""The texts in English."""

TEXTS = {
    # -- losses
    "epsilon": "epsilon",
    "delta": "delta",
    "rho": "rho",
    # -- counted things
    "one-row": "1 row",
    "n-rows": "{n} rows",
    "one-group": "1 group",
    "n-groups": "{n} groups",
    "one-rank": "1 rank",
    "n-ranks": "{n} ranks",
    # -- whom a guarantee is for
    "unit-row": "one row",
    "unit-id": "everything of one {unit!r}",
    "add-remove": "added or removed",
    "replace": "replaced by another",
    # -- a release
    "release-genuine": "{file}: as it was released, for charge {charge} of this ledger.",
    "release-beside": "Not sealed, and not verified: {names}.",
    "statement": "{guarantee} for {unit} {neighbors} · charge {charge}",
    "rehearsal": "REHEARSAL on made-up rows, about no one · would be {statement}",
    "more-rows": "… and {n} more rows",
    "within-ranks": "{outputs}: within ± {ranks} ranks, {confidence} of the time",
    "interval": "{confidence} interval",
    "together": "{guarantee} for all together · charge {charge}",
    "together-tight": "{guarantee} for all together ({tight}, tightly) · charge {charge}",
    "reason": "Epsilon {epsilon} is above {limit}; the reason given: {because}",
    "override": "OVERRIDE: epsilon {epsilon} was allowed although it promises next to nothing.",
    "running-day": "Day {day} of {days}: totals of all days together are one event, paid for at opening.",
    "running-intervals": "Intervals are for one day; over many days some miss.",
    # -- an explanation
    "label-table": "table",
    "label-protects": "protects",
    "label-keeps": "keeps",
    "label-where": "where",
    "label-groups": "groups",
    "label-costs": "costs",
    "protects": "{unit}, {neighbors}",
    "keeps": "of each, at most {rows} in {groups}",
    "keeps-one": "of each, one row, made of all its rows",
    "limit-per-unit": "at most",
    "share-kept": "keeps",
    "share-within": "between",
    "limit-advice": "The least that keeps 95 %: {limit}. A unit with more than {most} counts here with {most}.",
    "keeps-total": "of each, at most {rows} in all",
    "keeps-after-total": "of each, at most {rows} in all, after the filter",
    "keeps-before": "of each, at most {rows} in {groups}, before the filter",
    "keeps-after": "of each, at most {rows} in {groups}, after the filter",
    "whole-answer": "the whole answer",
    "groups-private": "{groups}: selected privately",
    "groups-public": "{groups}: {n} public",
    "costs": "{guarantee}, once",
    "output": "output",
    "expected-error": "expected error ({confidence})",
    "by-rows": "depends on the rows behind it:",
    "by-answers": "depends on the answers it is computed from",
    "at-rows": "{n} rows",
    "in-set": "{output} by {groups}",
    "in-all": "{output} in all",
    "exact": "exact",
    "before-fit": "± {error} before the levels are made to agree",
    "ranks": "± {error} ranks",
    "paid-for": "paid for",
    "share": "share",
    "mechanism": "mechanism",
    "noise": "noise",
    "moved": "moved by one unit",
    "free": "free",
    "none-needed": "none needed",
    "not-moved": "nothing: neighbours agree on it",
    "scale": "scale {scale}",
    "sigma": "sigma {sigma}",
    "moved-norm": "{norm} {moved}",
    "step-ranks": "quantiles {quantiles} of {measure}",
    "step-powers": "power of two at {quantiles} of {measure}",
    "step-largest": "the {k} largest groups",
    "step-select": "which groups are shown",
    "epsilon-per-row": "epsilon {epsilon} per row",
    "epsilon-each": "epsilon {epsilon} each",
    "moved-ranks": "{ranks} in {groups}",
    "moved-count": "{moved} in a count",
    "sure-from": "sure from about {units} units",
    "moved-unit": "1 unit in a group",
    "runs": "{engine} runs:",
    "shared": "{measures}: measured before, in charge {charge}; here measured again, with noise of its own.",
    "bought-before": "Bought before, in charge {charge}: asking again is free, and shows the same numbers.",
    # -- a description
    "describe-table": "{table}: protects {unit} {how}",
    "describe-public": "{table}: public",
    "describe-kept": "at most {kept} count",
    "describe-column": "column",
    "describe-type": "type",
    "describe-values": "values",
    "describe-keys": "{some} … ({n} keys)",
    "describe-never-null": "never NULL",
    # -- mechanisms by kind
    "integer-laplace": "integer Laplace",
    "gaussian": "Gaussian",
    "integer-gaussian": "integer Gaussian",
    "exponential-quantiles": "exponential",
    "exponential-top-k": "exponential",
    "optimal-keys": "optimal selection",
    "thresholded-laplace": "threshold on a noisy count",
    "thresholded-gaussian": "threshold on a noisy count",
    # -- notes
    "covers": "An interval covers the statistic as it was protected: values clipped to their bounds, every unit cut to its "
    "limits. It does not cover what clipping and cutting left out.",
    "rows-left-out": "At most {kept} count. What was cut is in no number and in no interval, so counts and sums can be too "
    "small; by how much is not known without paying for it.",
    "quality": "fits: within what was declared. missing: NULL, or not of the declared type. outside: none of the keys, or beyond "
    "a bound, to which it is clipped.",
    "kept-rows": "{rows} of each {unit!r}",
    "kept-groups": "{rows} of each {unit!r} in each of {groups}",
    "per-unit": "There is one row for each {unit!r} that has rows here; those without any are not in it.",
    "clipped-per-unit": "No row of a {unit!r} is left out, but what is counted or added up of one is clipped to what {rows} "
    "rows can give.",
    "joined": "Of each unit at most {rows} are joined, chosen before the join. A unit with more loses pairs of rows that "
    "match, so counts and sums of joined rows are too small; by how much is not known without paying for it.",
    "joined-outer": "Of each unit at most {rows} are joined, chosen before the join. A unit with more loses pairs of rows that "
    "match, so counts and sums of joined rows are too small; by how much is not known without paying for it. A row that "
    "is kept may lose its match, and then counts as one that has none.",
    "rows-of": "{n} rows of {table!r}",
    "and": " and ",
    "prepared-before-filter": "The rows of each unit were chosen when the table was prepared, before the filter: rows that the "
    "filter drops used up the limits, so fewer are left than without the prepared table.",
    "prepared-for-others": "The rows of each unit were chosen when the table was prepared, among more groups than are asked "
    "about: those used up the limits, so fewer rows are left than without the prepared table.",
    "gaussian-together": "Shares of Gaussian noise divide its mu squared: together they are one Gaussian mechanism.",
    "groups-selected": "Groups of few units are left out; which ones are shown is random.",
    "spread-evenly": "The error of a standard deviation is given for values of a standard deviation of at least {deviation:.4g}, that "
    "of values spread evenly over their bounds; a smaller one may be further off. The answer's interval holds for all.",
    "selected-by-count": "A noised count decides by itself whether its group is shown. Its interval is corrected for that: it "
    "covers given that the group is shown, and goes down to 1 near the threshold. The expected error holds in groups of "
    "at least {units} units.",
    "tree-fitted": "Counts are noised at every level of the tree, then made to agree and not to be negative; public totals "
    "are kept. That costs nothing, and pulls small counts up: they are no longer unbiased.",
    "sets-added": "The finest groups are measured; every total is the sum of its parts, and has the noise of all of them. NULL in a "
    "group stands for all its keys. Rows without one of the keys are in no total.",
    "sets-fitted": "Several of the groupings are measured, each with a share of the budget, then made to agree by least squares: "
    "every total is exactly the sum of its parts, and has the interval of what it is made of. NULL in a group stands for "
    "all its keys. Rows without one of the keys are in no total.",
    "adjusted": "Adjusted by least squares, with {names}: numbers about the same rows agree in all of them, exactly. It reads only what "
    "was released, and is free; intervals are those of the adjusted numbers.",
    "adjusted-together": "Made to agree by least squares, after the noise and for free, with the errors stated: {names}.",
    "apart-cut": "Not adjusted to other tables of the same rows: of each unit other rows are cut for other groups, so that totals really "
    "differ.",
    "apart-null": "Not adjusted to other tables of the same rows: rows without one of the keys are left out here, so that totals really "
    "differ. Columns with keys that are declared never to be NULL agree.",
    "apart-otherwise": "Not adjusted to other tables of the same rows: its groups are chosen, or made to agree among themselves.",
    "contained": "{measures}: the sum over the groups of charge {charge} is already bought; here it is measured again, with noise of its own.",
    "computed": "What is computed from answers is post-processing and free. Sums and differences have intervals by the joint law of their noise, ratios by Fieller's method; for all else its parts cover at once, which is wider. An interval without ends says that a denominator may be zero.",
    "extreme-of-noised": "The least or largest of several noised answers is drawn towards the largest noise: it lies further out than that of the true ones. Its interval allows for that.",
    "places-of-noised": "Places are those of the noised answers; groups that lie closer than their noise may stand in another order.",
    "total-of-shown": "Totals over groups are of the groups shown, not of all rows.",
    "post-processing": "HAVING, ORDER BY, LIMIT and OFFSET act on the noised answer and cost nothing.",
    "chosen-by-noise": "The rows shown were chosen by noised numbers. Intervals are corrected for that: the expected part of "
    "those shown that miss is at most what the confidence leaves. Expected errors are of one group before the choice.",
    "chosen-at-once": "The rows shown were chosen by noised numbers. Intervals are corrected for that: all of them cover at "
    "once with the confidence stated. Expected errors are of one group before the choice.",
    "extremes": "The least and the largest value are asked as the 1 % and 99 % quantiles: beyond them is noise.",
}
