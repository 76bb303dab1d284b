"""People decide, hold items, think again, come too late, or do not come at all."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from agentops import clock
from reviews import claims, expiring
from reviews.models import Decision, Review
from reviews.stale import StaleReview
from reviews.undo import undo
from tests.model import people
from tests.model.invariants import Rows
from tests.model.played import Played, many_turns, pick, some
from tests.model.said import Turn

has_open = precondition(lambda self: self.rows.waiting("open"))


class Deciding(Played):
    """What is decided holds; what is not, does not happen."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[Review] = []

    @precondition(lambda self: self.rows.waiting())
    @rule(which=some, who=some, what=some, is_honest=st.booleans())
    def a_person_decides(
        self, which: int, who: int, what: int, is_honest: bool
    ) -> None:
        review = pick(self.rows.waiting(), which)
        kind = pick(people.kinds(review), what)
        people.send(review, self._boss(who), kind, is_honest=is_honest)

    @has_open
    @rule(which=some, who=some, all_turns=many_turns)
    def a_person_lets_it_go_on(
        self, which: int, who: int, all_turns: list[Turn]
    ) -> None:
        """By the first kind that is offered, as most people do most times."""
        review = pick(self.rows.waiting("open"), which)
        people.send(review, self._boss(who), people.kinds(review)[0])
        self._go_on(which, all_turns)

    @has_open
    @rule(which=some, who=some, what=some, other=some)
    def two_decide_at_once(self, which: int, who: int, what: int, other: int) -> None:
        """Both saw the same; the second is told so, or had said the very same."""
        first = pick(self.rows.waiting("open"), which)
        second = Review.objects.select_related("run__agent").get(pk=first.pk)
        kinds = people.kinds(first)
        refused = people.send(first, self._boss(who), pick(kinds, what))
        late = people.send(second, self._boss(who + 1), pick(kinds, other))

        assert refused or isinstance(late, StaleReview), "both of two decided"

    @rule(which=some, who=some, what=some, is_kept=st.booleans())
    def a_page_is_left_open(
        self, which: int, who: int, what: int, is_kept: bool
    ) -> None:
        """Somebody decides on what it shows when that may have changed long since."""
        if self.pages and not is_kept:
            page = self.pages.pop(which % len(self.pages))
            if kinds := people.kinds(page):
                people.send(page, self._boss(who), pick(kinds, what))
        elif items := self.rows.waiting("open"):
            self.pages.append(pick(items, which))

    @precondition(lambda self: self.rows.waiting())
    @rule(which=some, who=some, what=some, after=st.integers(0, 10))
    def a_web_process_dies(self, which: int, who: int, what: int, after: int) -> None:
        review = pick(self.rows.waiting(), which)
        with self.world.dying(after):
            people.send(review, self._boss(who), pick(people.kinds(review), what))

    @has_open
    @rule(
        which=some,
        who=some,
        what=some,
        pause_s=st.sampled_from([0, 0, 3, 6]),
        is_claimed=st.booleans(),
        sends_again=st.booleans(),
    )
    def a_person_thinks_again(
        self,
        which: int,
        who: int,
        what: int,
        pause_s: int,
        is_claimed: bool,
        sends_again: bool,
    ) -> None:
        """Takes it back, in time or not; another window shows it as it was before."""
        review = pick(self.rows.waiting("open"), which)
        page = Review.objects.select_related("run__agent").get(pk=review.pk)
        kind = pick(people.kinds(review)[:2], what)
        if people.send(review, self._boss(who), kind):
            return
        made = Rows().decided()[0]
        self.world.wait(pause_s)
        if is_claimed:
            self._driver(which).claim()
        self._take_back(made)
        if sends_again:
            people.send(page, self._boss(who), kind)

    @has_open
    @rule(which=some, who=some)
    def a_person_holds_an_item(self, which: int, who: int) -> None:
        review, boss = pick(self.rows.waiting("open"), which), self._boss(who)
        is_taken = people.is_held_by_another(review, boss)
        try:
            claims.claim(review.pk, by=boss)
        except StaleReview:
            assert is_taken
        else:
            assert not is_taken

    @precondition(lambda self: self.rows.decided())
    @rule(which=some)
    def a_person_takes_it_back(self, which: int) -> None:
        self._take_back(pick(self.rows.decided()[:2], which))

    def _take_back(self, made: Decision) -> None:
        """In time it is taken back, later it is refused; never the other way round."""
        is_over = made.effective_at <= clock.now() or made.undone_at is not None
        with suppress(StaleReview):
            undo(made.review_id, by=made.actor, decision_id=made.pk)
            assert not is_over, "taken back after it took effect"

    @rule(which=some, who=some, is_late=st.booleans())
    def nobody_answers_in_time(self, which: int, who: int, is_late: bool) -> None:
        """The timer that closes it may be late; or somebody asks once more."""
        expired = self.rows.waiting("expired")
        if not expired:
            self.world.wait(3600)
            if not is_late:
                expiring.expire()
            return
        with suppress(StaleReview):
            expiring.ask_again(pick(expired, which).pk, by=self._boss(who))
