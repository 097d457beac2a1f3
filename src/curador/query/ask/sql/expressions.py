"""Expressions of SQL, read node by node from an allow-list into our own; what is not listed is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from curador.errors import CuradorError, QuestionRefused
from curador.query.ask.sql.functions import Rule, shifted
from curador.query.ask.sql.text import GRAMMAR, expression, only, place, plain_column, refuse, word
from curador.query.ask.sql.text import number as number
from curador.query.ask.sql.text_functions import NAMED
from curador.query.ask.sql.text_functions import RULES as FUNCTIONS
from curador.query.language import expressions as ex

AGGREGATES = (exp.AggFunc, exp.WithinGroup, exp.Filter, exp.Window)
GROUPINGS = (exp.Grouping, exp.GroupingId)
"""What tells the groups of grouping sets apart: of answers, not of rows, though the parser calls it an aggregate."""

OUR_AGGREGATES = ("MEAN", "TOP_K", "HISTOGRAM", "BOUNDS")


@dataclass(frozen=True)
class Reader:
    """Reads expressions of one text; ``column`` resolves a name, ``aggregate`` reads an aggregate, ``among`` a query
    after IN, and IS NULL of a column.

    Without ``aggregate``, as in WHERE, an aggregate is refused; so is a query without ``among``.  ``ours`` reads what
    only answers know, or gives None.
    """

    text: str
    column: Callable[[exp.Column], ex.Expr]
    aggregate: Callable[[exp.Expr], ex.Expr] | None = None
    among: Callable[[exp.Expr], ex.Expr] | None = None
    ours: Callable[[Reader, exp.Expr, int], ex.Expr | None] | None = None

    def read(self, node: exp.Expr | None, depth: int = 1) -> ex.Expr:
        """The expression a node stands for."""
        if not isinstance(node, exp.Expr):  # the parser accepts some words without their operand
            raise QuestionRefused("Something is missing where a value is expected.", fix=GRAMMAR, code="value-missing")
        if depth > ex.DEEPEST:
            refuse(
                node,
                self.text,
                f"Nested more than {ex.DEEPEST} deep.",
                "Simplify the question.",
                code="question-too-deep",
                most=ex.DEEPEST,
            )
        if is_aggregate(node):
            if self.aggregate is None:
                refuse(
                    node,
                    self.text,
                    f"{word(node, self.text)} stands where a value of one row is needed.",
                    _WITHIN,
                    code="aggregate-in-row",
                    word=word(node, self.text),
                )
            return self.aggregate(node)
        if self.ours is not None and (found := self.ours(self, node, depth)) is not None:
            return found
        # The class itself, not its parents: a subclass is another kind of node until it has a rule.
        if type(node) not in _RULES:
            refuse(node, self.text)
        rule, says = _RULES[type(node)]
        only(node, self.text, *says)
        try:
            return rule(self, node, depth + 1)
        except QuestionRefused:
            raise
        except CuradorError as error:  # a name or a literal that cannot be
            what = place(node, self.text) + error.what
            raise QuestionRefused(what, fix=error.fix, code=error.code, facts=error.facts) from None


_WITHIN = (
    "Aggregates stand in SELECT, HAVING and ORDER BY, and may be computed with there; rows are filtered before them."
)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate over rows."""
    if isinstance(node, GROUPINGS):
        return False
    return isinstance(node, AGGREGATES) or (isinstance(node, exp.Anonymous) and node.name.upper() in OUR_AGGREGATES)


def parse_expression(text: str, column: Callable[[exp.Column], ex.Expr] | None = None) -> ex.Expr:
    """An expression from its text; names are columns unless ``column`` finds something else for them.

    >>> str(parse_expression("age BETWEEN 18 AND 65 AND sex = 'F'"))
    "(age <= 65) AND (age >= 18) AND (sex = 'F')"
    """
    return Reader(text, column or _plain_name).read(expression(text))


def _plain_name(node: exp.Column) -> ex.Expr:
    return ex.Name(node.name, node.table or None)


# ---- the allow-list ------------------------------------------------------------------------------------------

_RULES: dict[type[exp.Expr], tuple[Rule, tuple[str, ...]]] = dict(FUNCTIONS)


def _rule(*kinds: type[exp.Expr], says: str = "this") -> Callable[[Rule], Rule]:
    """Register the rule for kinds of nodes; a node with an argument outside ``says`` is refused before it runs."""

    def register(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(kinds, (rule, tuple(says.split()))))
        return rule

    return register


@_rule(exp.Column, says="this table")
def _column(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return r.column(plain_column(node, r.text))


@_rule(exp.Paren)
def _paren(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return r.read(node.this, depth)


@_rule(exp.Literal, says="this is_string")
def _literal(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.Literal(node.name if node.is_string else number(node, r.text))


@_rule(exp.Boolean)
def _boolean(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.Literal(bool(node.this))


@_rule(exp.Null)
def _null(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.Literal(None)


_Ops = dict[type[exp.Expr], str]
_ARITHMETIC: _Ops = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.IntDiv: "//", exp.Mod: "%"}


@_rule(*_ARITHMETIC, says="this expression typed safe")  # typed, safe: how others divide
def _arithmetic(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    left, right = node.this, node.expression
    if type(node) is exp.Add and type(left) is exp.Interval:
        left, right = right, left
    if type(right) is exp.Interval and type(node) in (exp.Add, exp.Sub):
        return shifted(r.read(left, depth), right, r.text, 1 if type(node) is exp.Add else -1)
    return ex.Arithmetic(_ARITHMETIC[type(node)], *_sides(r, node, depth))


def _sides(r: Reader, node: exp.Expr, depth: int) -> tuple[ex.Expr, ex.Expr]:
    return r.read(node.this, depth), r.read(node.expression, depth)


@_rule(exp.Neg)
def _negative(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.negate(r.read(node.this, depth))


@_rule(exp.Abs)
def _abs(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.Abs(r.read(node.this, depth))


def _operands(r: Reader, node: exp.Expr, depth: int) -> tuple[ex.Expr, ...]:
    return tuple(r.read(x, depth) for x in (node.this, *node.expressions))


@_rule(exp.Least, says="this expressions ignore_nulls")
def _least(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.Least(_operands(r, node, depth))


@_rule(exp.Greatest, says="this expressions ignore_nulls")
def _greatest(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.Greatest(_operands(r, node, depth))


@_rule(exp.Coalesce, says="this expressions ignore_nulls")
def _coalesce(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.Coalesce(_operands(r, node, depth))


_COMPARISONS: _Ops = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}


@_rule(*_COMPARISONS, says="this expression")
def _comparison(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    if any(type(side) in _COMPARISONS for side in (node.this, node.expression)):  # engines disagree on which is first
        refuse(
            node,
            r.text,
            "A comparison stands beside another.",
            "Put one in parentheses, or join them by AND.",
            code="sql-comparisons",
        )
    return ex.Compare(_COMPARISONS[type(node)], *_sides(r, node, depth))


@_rule(exp.Between, says="this low high")
def _between(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    value = r.read(node.this, depth)
    low, high = r.read(node.args["low"], depth), r.read(node.args["high"], depth)
    return ex.all_of(ex.Compare(">=", value, low), ex.Compare("<=", value, high))


@_rule(exp.In, says="this expressions query")
def _in(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    if node.args.get("query"):
        if r.among is None:
            refuse(
                node,
                r.text,
                "A query stands where a list of values is needed.",
                "List the values.",
                code="sql-query-in-list",
            )
        return r.among(node)
    found = [r.read(x, depth) for x in node.expressions]
    values = [v for v in found if isinstance(v, ex.Literal)]
    if len(values) < len(found):
        refuse(
            node,
            r.text,
            "IN lists something that is not a constant.",
            "List constants, or join conditions by OR.",
            code="sql-in-constants",
        )
    return ex.one_of(r.read(node.this, depth), values)


@_rule(exp.Is, says="this expression")
def _is(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    what = r.read(node.this, depth)
    if type(node.expression) is exp.Boolean:
        return ex.all_of(what if node.expression.this else ex.Not(what), ex.Not(ex.IsNull(what)))
    if type(node.expression) is not exp.Null:
        refuse(
            node, r.text, "IS tests for NULL, TRUE and FALSE only.", "Write IS NULL, or = for a value.", code="sql-is"
        )
    return ex.IsNull(what) if r.among is None or not isinstance(what, ex.Name) else r.among(node)


@_rule(exp.Not)
def _not(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.Not(r.read(node.this, depth))


@_rule(exp.And, says="this expression")
def _and(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.all_of(*(r.read(x, depth) for x in _flat(r, node)))


@_rule(exp.Or, says="this expression")
def _or(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return ex.any_of(*(r.read(x, depth) for x in _flat(r, node)))


def _flat(r: Reader, node: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions a chain of AND or OR joins: parsed as a deep tree, read as a flat list, without recursion."""
    todo = [node]
    while todo:
        one = todo.pop()
        if type(one) is type(node):
            only(one, r.text, "this", "expression")
            todo += [one.expression, one.this]
        else:
            yield one


@_rule(exp.Case, says="this ifs default")
def _case(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    subject = None if node.this is None else r.read(node.this, depth)
    whens = []
    for when in node.args["ifs"]:
        only(when, r.text, "this", "true")
        test = r.read(when.this, depth)
        whens.append((test if subject is None else ex.Compare("=", subject, test), r.read(when.args["true"], depth)))
    default = node.args.get("default")
    return ex.Case(tuple(whens), ex.Literal(None) if default is None else r.read(default, depth))


@_rule(exp.If, says="this true false")
def _if(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    default = node.args.get("false")
    chosen = r.read(node.this, depth), r.read(node.args["true"], depth)
    return ex.Case((chosen,), ex.Literal(None) if default is None else r.read(default, depth))


@_rule(exp.Nullif, says="this expression")
def _nullif(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    left, right = _sides(r, node, depth)
    return ex.Case(((ex.Compare("=", left, right), ex.Literal(None)),), left)


@_rule(exp.Anonymous, says="this expressions")
def _ours(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    """Functions by their names; BIN(x, edges…) is the index of a bin."""
    if node.name.upper() in NAMED:
        return NAMED[node.name.upper()](r, node, depth)
    if node.name.upper() != "BIN" or len(node.expressions) < 2:
        refuse(
            node,
            r.text,
            f"There is no function {word(node, r.text)} here.",
            code="no-such-function",
            word=word(node, r.text),
        )
    x, *edges = node.expressions
    return ex.Bin(r.read(x, depth), tuple(number(edge, r.text) for edge in edges))
