from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.effects import effect_of
from otel_processor.model import Effect

BY_NAME = {
    Effect.READ: (
        "get_order list_files search web_search searchWeb find-user ReadFile fetch.url db_query lookup_order view_page listBooks "
        "get_exchange_rate summarize get_commit show_return_policy get_weather SQLQuery grep ls open_page"
    ),
    Effect.WRITE: (
        "write_file create_ticket update_order delete_user edit_file editFile insert-row send_email post_message put_object "
        "apply_patch append_to_file remove_item move_file rename_file git_commit git_push book_flight cancel_order submit_form "
        "save_note upload_file set_status add_comment search_and_replace find_and_update SendHTTPRequest refund_order"
    ),
    Effect.POLL: "wait_for_job poll status get_order_status check_status sleep watch_build tail_logs health read_progress",
    Effect.UNKNOWN: "bash python execute_command run_tests shell do_it tool1 _ 42 über weiter",
}


@pytest.mark.parametrize(("name", "effect"), [(name, effect) for effect, names in BY_NAME.items() for name in names.split()])
def test_the_words_of_a_name_tell_what_the_tool_does(name: str, effect: Effect) -> None:
    assert effect_of(name) is effect


def test_what_is_declared_wins() -> None:
    assert effect_of("get_order", {"get_order": "write"}) is Effect.WRITE
    assert effect_of("get_orders", {"get_order": "write"}) is Effect.READ


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C", "Cs"])))
def test_any_name_has_an_effect(name: str) -> None:
    assert effect_of(name) in Effect
