"""The changes that tools/mutate.py makes: one small mistake at a time."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
OPPOSITE = {"min": "max", "max": "min", "argmin": "argmax", "minimum": "maximum", "maximum": "minimum"}
NOT_CODE = {"annotation", "returns", "decorator_list"}


@dataclass(frozen=True)
class Mutant:
    """A module's tree with one change."""

    tree: ast.Module
    line: int
    where: str  # the function, with its class
    change: str


@dataclass(frozen=True)
class _Place:
    """A node, and where in the tree it is."""

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None
    where: str
    stored: Counter[str]  # how often each name of the function is assigned to

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every change of a module; imports, annotations, docstrings and messages are left alone."""
    tree = ast.parse(source)
    seen: Counter[tuple[str, str]] = Counter()
    for place in list(_places(tree, "", Counter())):
        for new in _changes(place):
            change = f"{_text(place.node)} -> {_text(new)}"
            seen[place.where, change] += 1
            number = seen[place.where, change]
            place.put(new)
            changed = ast.fix_missing_locations(copy.deepcopy(tree))
            place.put(place.node)
            yield Mutant(changed, place.node.lineno, place.where, change if number == 1 else f"{change} (no. {number})")


def _text(node: ast.AST) -> str:
    return "nothing" if isinstance(node, ast.Pass) else " ".join(ast.unparse(node).split())


def _places(parent: ast.AST, where: str, stored: Counter[str]) -> Iterator[_Place]:
    if isinstance(parent, ast.FunctionDef | ast.ClassDef):
        where = f"{where}.{parent.name}".lstrip(".")
    if isinstance(parent, ast.FunctionDef):
        names = [n.id for n in ast.walk(parent) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        stored = Counter(names + [argument.arg for argument in parent.args.args])
    for field, value in ast.iter_fields(parent):
        if field in NOT_CODE:
            continue
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or isinstance(
                node, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Raise
            ):
                continue
            yield _Place(node, parent, field, index if isinstance(value, list) else None, where, stored)
            yield from _places(node, where, stored)


def _changes(place: _Place) -> Iterator[ast.AST]:
    node = place.node
    match node:
        case ast.Compare(ops=[operator]):
            for other in COMPARISONS[type(operator)]:
                yield ast.Compare(node.left, [other()], node.comparators)
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
        case ast.AugAssign() if type(node.op) in ARITHMETIC:
            yield ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.UnaryOp():
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1)
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.Slice():
            yield from _other_bounds(node)
        case ast.Attribute(attr=name) if name in OPPOSITE:
            yield ast.Attribute(node.value, OPPOSITE[name], node.ctx)
        case ast.Name(id=name) if name in OPPOSITE:
            yield ast.Name(OPPOSITE[name], node.ctx)
    if place.field in ("test", "ifs") and not isinstance(node, ast.Compare | ast.UnaryOp | ast.Constant):
        yield ast.UnaryOp(ast.Not(), node)
    if place.where and _can_go(node, place.stored) and not isinstance(place.parent, ast.ClassDef):
        yield ast.Pass()


def _other_bounds(node: ast.Slice) -> Iterator[ast.Slice]:
    for bound in ("lower", "upper"):
        value = getattr(node, bound)
        if value is not None:
            yield ast.Slice(**{"lower": node.lower, "upper": node.upper, "step": node.step, bound: None})
            if not isinstance(value, ast.Constant):
                more = ast.BinOp(value, ast.Add(), ast.Constant(1))
                yield ast.Slice(**{"lower": node.lower, "upper": node.upper, "step": node.step, bound: more})


def _can_go(node: ast.AST, stored: Counter[str]) -> bool:
    """Whether a function still runs without the statement: the only assignment to a name must stay."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        return all(stored[name] > 1 for name in names)
    return isinstance(node, ast.AugAssign)
