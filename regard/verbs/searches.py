"""Table of further search options in a request."""

from typing import Annotated, Any

from pydantic import AfterValidator, ValidationInfo, WithJsonSchema, create_model

from regard.base.faults import Fault
from regard.base.recipe import Options, check
from regard.base.requests.names import JSON, Names
from regard.decoding.options import DecodingOptions

_NAMED = ("beam", "length_penalty", "n_best", "sampling")  # search options with their own request field
_SEARCH = create_model(
    "SearchRequest",
    __base__=Options,
    __doc__="Other search options, as in the decoding table of a recipe.",
    **{  # type: ignore[call-overload]  # the fields are known only at run time
        name: (field.annotation, field) for name, field in DecodingOptions.model_fields.items() if name not in _NAMED
    },
)


def _check_search(options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    names: Names = info.context or JSON
    if clash := [name for name in options if name in _NAMED]:
        raise Fault(names.fill("'{option}' has its own field; give it there, not in {search}.", option=clash[0]))
    if unknown := {name: value for name, value in options.items() if name not in DecodingOptions.model_fields}:
        check(DecodingOptions, unknown, "the search")  # refuses them, with suggestions from all options of a search
    check(_SEARCH, options, "the search")
    return options


SearchTable = Annotated[dict[str, Any], AfterValidator(_check_search), WithJsonSchema(_SEARCH.model_json_schema())]
OF_BEAMS = ("length_penalty_kind", "coverage_penalty", "stop", "nested", "groups", "diversity")  # not for sampling
