"""A gallery of captions: the best and worst ones, and the data of its page."""

import numpy as np

from regard.viewing.gallery import ScoredCaption, gallery_of, gallery_page


def captions(*scores: float) -> list[ScoredCaption]:
    return [ScoredCaption(f"{score}.png", score, ["a", "dot"], ["one dot"]) for score in scores]


def names(found: list[ScoredCaption]) -> list[str]:
    return [caption.name for caption in found]


def test_the_best_come_first_and_the_worst_begin_with_the_worst() -> None:
    gallery = gallery_of("all", "CIDEr", captions(0.5, 2.0, 0.1, 1.0), 2)
    assert names(gallery.best) == ["2.0.png", "1.0.png"]
    assert names(gallery.worst) == ["0.1.png", "0.5.png"]
    assert gallery.count == 4


def test_no_caption_is_among_both() -> None:
    gallery = gallery_of("few", "CIDEr", captions(3.0, 1.0, 2.0), 5)
    assert names(gallery.best) == ["3.0.png", "2.0.png"]
    assert names(gallery.worst) == ["1.0.png"]


def test_the_page_has_pictures_and_weights_where_there_are_some() -> None:
    weights = np.array([[[0.25, 0.75]], [[1.0, 0.0]]])
    seen = ScoredCaption("seen.png", 2.0, ["a", "dot"], ["<b>"], np.ones((2, 2, 3)), weights)
    data = gallery_page(gallery_of("both", "CIDEr", [seen, *captions(1.0)], 1)).data
    (best,), (worst,) = data["best"], data["worst"]
    assert best["picture"] == {"height": 2, "width": 2, "bytes": [255] * 12}
    assert (best["columns"], best["weights"]) == (2, [[2500, 7500], [10_000, 0]])
    assert (worst["picture"], worst["weights"]) == (None, [])
    assert "<b>" not in gallery_page(gallery_of("both", "CIDEr", [seen], 1)).html.replace("\\u003cb\\u003e", "")
