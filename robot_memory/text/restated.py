"""
Whether a text says the same as a known one in other words, by all that is known of both.

A logistic regression over what a cross-encoder says of two texts, how near their vectors are and
what their words tell. Words part more than they should ("the tap drips", "water comes out of the
tap"), and the model cannot tell every noun from another. bench/pairs/train_restated.py fits the
weights in restated.toml; docs/decisions/cross-encoder.md has what they reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from robot_memory.text.duplicate_keys import names_another
from robot_memory.text.relations import compare_words, overlap, read_figures, repeats
from robot_memory.text.sameness import measure_form, tells_of_another
from robot_memory.text.statement_reader import count_negations, read_amounts, read_statement
from robot_memory.text.toml_tables import load_toml


def list_evidence(
    old: str, new: str, similarity: float, replaces: float, restates: float
) -> dict[str, float]:
    """
    Return what tells whether a new text of the same script restates an older one, by name.

    `similarity` is that of their vectors, 0 to 1; `replaces` and `restates` are the log odds of a
    cross-encoder that the new one does so.
    """
    one, other = read_figures(old), read_figures(new)
    amounts, others = read_amounts(one.text), read_amounts(other.text)
    form, another = measure_form(one, other), float(tells_of_another(new, old))
    signs = read_statement(new).signs
    return {
        'replaces': replaces,
        'restates': restates,
        'likelier': max(replaces, restates),
        'similarity': similarity,
        'chinese': float(one.is_han),
        'shared': overlap(read_statement(old), read_statement(new)),
        'jaccard': compare_words(old, new),
        'form': form,
        'change': float(signs.change),
        'hint': float(signs.hint),
        'repeats': float(repeats(old, new, similarity)),
        'names_another': float(names_another(old, new)),
        'tells_of_another': another,
        'has_amounts': float(bool(amounts or others)),
        'same_amounts': float(amounts == others),
        'same_negations': float(count_negations(one.text) == count_negations(other.text)),
        'length': len(old) / 50,
        'new_length': len(new) / 50,
        'restates_in_form': restates * form,
        'restates_another': restates * another,
    }


def rate_restated(
    old: str, new: str, similarity: float, replaces: float, restates: float
) -> float:
    """Return the log odds that a new text says the same as an older one; arguments as above."""
    evidence = list_evidence(old, new, similarity, replaces, restates)
    weights = _load_weights()
    return weights['bias'] + sum(weights[name] * value for name, value in evidence.items())


@cache
def _load_weights() -> Mapping[str, float]:
    found: Mapping[str, float] = load_toml(__file__, 'restated.toml')['weights']
    return found
