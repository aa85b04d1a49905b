#!/usr/bin/env python3
"""The mutants: copies of the library, or of the tool's sources beside it, with one fault each, and the check that must
find each of them out.

usage: mutants.py names                                                    PROGRAM:NAME of each
       mutants.py flags                                                    how C++ programs of checks are compiled
       mutants.py check INCLUDE README                                     do all still fit, and is each described?
       mutants.py kill NAME INCLUDE COMPILER [STANDARD_HEADERS.pch]        for checks that are C++ programs
       mutants.py kill NAME INCLUDE NVCC CUOBJDUMP                         for those that read machine code

`kill` ends with 0 if the check fails on the mutant, as it must; with 77 (skipped) where there is no disassembler; and
else with 1: the mutant survives, or does not compile.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINE_CODE = os.path.join(HERE, os.pardir, "packaging", "machine_code_test.py")


class Mutant(NamedTuple):
    name: str
    program: str  # PROGRAM_checks.cpp, or machine_code
    check: str  # of that program; for machine_code, a kernel
    header: str  # in include/gpusync, or, if it begins so, in src/
    text: str  # stands once in the header
    replacement: str


MUTANTS = [
    # Who takes part.
    Mutant("rank_from_the_own_word", "members", "ranks_count_drops_in_all_words", "grid/members.hpp",
           "for (uint32_t word = 0; word <= block / 32; ++word)",
           "for (uint32_t word = block / 32; word <= block / 32; ++word)"),
    Mutant("takes_part_from_the_first_word", "members", "takes_part_looks_into_every_word", "grid/members.hpp",
           "bits<Grid>(0, place / 32) | bits<Grid>(1, place / 32)",
           "bits<Grid>(0, 0) | bits<Grid>(1, 0)"),
    Mutant("roster_a_word_short", "members", "the_last_block_has_a_place_in_the_roster", "grid/members.hpp",
           "return 2 * (1 + (capacity + 31) / 32);",
           "return 2 * (1 + (capacity + 30) / 32);"),
    Mutant("storage_short_of_the_roster", "members", "the_storage_has_room_for_the_roster", "grid/layout.hpp",
           "whole_lines(dropping_blocks::words(blocks))",
           "whole_lines(dropping_blocks::words(blocks - 1))"),
    Mutant("part_beyond_the_grid", "barrier", "a_part_must_lie_in_the_grid", "core/storage_control.hpp",
           "uint64_t{handle.first} + handle.count > launch.blocks",
           "uint64_t{handle.first} + handle.count > launch.blocks + 1"),

    # Waiting.
    Mutant("no_poll_after_the_deadline", "waiting", "a_wait_polls_once_more_after_its_deadline", "core/wait.hpp",
           "uint32_t polls = late ? 1 : Grid::polls_per_look",
           "uint32_t polls = late ? 0 : Grid::polls_per_look"),
    Mutant("ticks_cut_to_nanoseconds", "waiting", "a_timeout_takes_ticks_of_any_length", "core/deadline.hpp",
           "return scaled(static_cast<uint64_t>(count), num * (billion / per_second), den);",
           "return static_cast<uint64_t>(count) * (num * (billion / per_second) / den);"),
    Mutant("clock_that_steps_back_strikes", "waiting", "a_clock_that_steps_back_ends_no_wait", "core/deadline.hpp",
           "return (now > begin_ ? now - begin_ : 0) >= span_;",
           "return now - begin_ >= span_;"),

    # Time-outs.
    Mutant("arrival_not_noted", "barrier", "a_block_that_arrived_early_is_not_missing", "grid/barrier.hpp",
           "if (grid.thread() == 0) given_.log.mark(grid, who_.place(grid), Algorithm::stamp(token.value_));",
           ""),
    Mutant("wait_blind_to_a_loss", "barrier", "a_bounded_wait_after_a_loss_ends_at_once", "core/wait.hpp",
           "late = context.late(grid) || context.hopeless(grid);",
           "late = context.late(grid);"),
    Mutant("unbounded_wait_goes_on_after_a_loss", "barrier", "an_unbounded_wait_after_a_loss_ends_the_launch",
           "core/wait_context.hpp",
           "end_hopeless(grid, log_.report);",
           ";"),
    Mutant("no_poll_after_a_loss", "waiting", "a_wait_polls_once_more_after_a_loss", "core/wait_context.hpp",
           "if constexpr (Grid::may_lose_phases) return log_.lost(grid) != 0;",
           "if constexpr (Grid::may_lose_phases) {\n      if (log_.lost(grid) == 0) return false;\n      give_up(grid);\n    }"),
    Mutant("join_blind_to_a_loss", "barrier", "a_first_bounded_call_meets_the_loss", "grid/barrier.hpp",
           "if constexpr (watches_loss) found.lost = given.log.lost(grid);",
           ""),
    Mutant("first_sync_blind_to_a_loss", "barrier", "a_first_bounded_call_meets_the_loss", "core/arrival_log.hpp",
           "return grid.thread() == 0 ? lost(grid) : 0;",
           ""),
    Mutant("settled_without_a_look", "barrier", "a_first_bounded_call_meets_the_loss", "grid/barrier.hpp",
           "return grid.sync_block_or(lost != 0) ? wait_status::timed_out : wait_status::completed;",
           "return wait_status::completed;"),
    Mutant("settled_without_a_look_unbounded", "barrier", "a_first_unbounded_call_meets_the_loss", "grid/barrier.hpp",
           "if (lost != 0) refuse(grid, given.log.report, standing::lost, 0);",
           ""),
    Mutant("first_wait_not_settled", "barrier", "a_first_bounded_call_meets_the_loss", "grid/barrier.hpp",
           "if (token.first_ && status == wait_status::completed)",
           "if (false)"),
    Mutant("first_drop_not_settled", "barrier", "a_first_bounded_call_meets_the_loss", "grid/barrier.hpp",
           "if (first && status == wait_status::completed)",
           "if (false)"),
    Mutant("entry_blind_to_a_loss", "barrier", "a_first_unbounded_call_meets_the_loss", "grid/barrier.hpp",
           "if (grid.sync_block_or(found.lost != 0)) refuse(grid, given_.log.report, standing::lost, 0);",
           ""),
    Mutant("time_out_forgotten", "barrier", "a_time_out_is_not_forgotten", "grid/barrier.hpp",
           "standing_ = standing::lost;\n      return wait_status::timed_out;\n    }\n    standing_ = standing::",
           "standing_ = standing::joined;\n      return wait_status::timed_out;\n    }\n    standing_ = standing::"),

    # Votes.
    Mutant("votes_in_a_single_word", "votes", "who_is_slow_reads_its_own_vote", "grid/votes.hpp",
           "static constexpr uint32_t apart = (second - first) / 2;",
           "static constexpr uint32_t apart = 0;"),
    Mutant("vote_sum_with_the_carry", "votes", "a_carry_is_no_part_of_a_sum", "grid/votes.hpp",
           "return static_cast<uint32_t>((before + phase_word::one_phase) >> 32);",
           "return static_cast<uint32_t>(before >> 32);"),
    Mutant("first_vote_without_a_phase", "votes", "a_launch_begins_with_what_the_last_has_left", "grid/votes.hpp",
           "if (own.sync_within(limit) == wait_status::timed_out) return wait_status::timed_out;\n    --own.phase_;",
           ""),
    Mutant("first_vote_from_zero", "votes", "a_launch_begins_with_what_the_last_has_left", "grid/votes.hpp",
           "votes.before = Grid::memory::template load<memory_order::relaxed, scope::device>(word);",
           ""),
    Mutant("votes_of_earlier_launches_stay", "votes", "a_late_vote_does_not_hide_a_missing_block", "grid/votes.hpp",
           "if (grid.thread() == 0) own.given_.log.mark(grid, own.who_.place(grid), 0);",
           ""),
    Mutant("first_vote_not_seen", "votes", "a_late_vote_does_not_hide_a_missing_block", "core/arrival_log.hpp",
           "!late || all_seen || phase != 0",
           "!late || phase != 0"),
    Mutant("answers_overwritten", "votes", "answers_of_two_barriers_do_not_mix", "grid/votes.hpp",
           "grid.sync_block();\n    return answered<Kind, Ordered, false>(grid, limit);",
           "return answered<Kind, Ordered, false>(grid, limit);"),
    Mutant("answer_of_the_next_vote", "votes", "an_answer_stays_until_all_have_read_it", "grid/votes.hpp",
           "if constexpr (Just) grid.sync_block();\n      return;",
           "return;"),
    Mutant("answer_before_all_have_voted", "votes", "who_asks_early_waits_for_all", "grid/votes.hpp",
           "if (Just || !votes.asked || !grid::vote_word::ended(seen, before)) {",
           "if (Just || !votes.asked) {"),
    Mutant("answer_asked_for_earlier", "votes", "who_does_not_ask_looks_anew", "grid/votes.hpp",
           "votes.asked = false;\n    ++votes.count;",
           "++votes.count;"),
    Mutant("ordered_vote_without_release", "machine_code", "votes", "grid/votes.hpp",
           "Grid::memory::template add<grid::publishes<Order>, scope::device>(word,",
           "Grid::memory::template add<memory_order::relaxed, scope::device>(word,"),
    Mutant("ordered_vote_without_acquire", "machine_code", "votes", "grid/votes.hpp",
           "soon_over<grid::sees<order>, scope::device>(grid, word, ended_now)",
           "soon_over<memory_order::relaxed, scope::device>(grid, word, ended_now)"),
    Mutant("vote_with_a_fence", "machine_code", "votes", "grid/votes.hpp",
           "Grid::memory::template add<grid::publishes<Order>, scope::device>(word,",
           "Grid::memory::template add<memory_order::release, scope::device>(word,"),

    # Channels.
    Mutant("channel_without_credit", "channel", "a_full_ring_has_no_room",
           "neighbours/channel.hpp",
           "if (!there_is_room(taken_)) {",
           "if (false) {"),
    Mutant("channel_a_chunk_too_deep", "channel", "a_full_ring_has_no_room",
           "neighbours/channel.hpp",
           "this->count_ + 1 - this->depth_",
           "this->count_ - this->depth_"),
    Mutant("channel_credit_tested_for_equality", "channel", "credit_may_be_more_than_is_needed",
           "neighbours/channel.hpp",
           "static_cast<int64_t>(taken - needed) >= 0",
           "taken == needed"),
    Mutant("channel_laps_not_counted", "channel", "a_word_of_the_lap_before_is_none",
           "neighbours/channel.hpp",
           "      ++tag_;\n",
           ""),
    Mutant("channel_tags_compared_as_numbers", "channel", "a_word_of_the_lap_before_is_none",
           "neighbours/channel.hpp",
           "return static_cast<uint32_t>(word >> 32) == tag;",
           "return static_cast<uint32_t>(word >> 32) >= tag;"),
    Mutant("channel_half_a_proof", "channel", "halves_prove_themselves",
           "neighbours/channel.hpp",
           "static_cast<uint32_t>(word.first >> 32) == tag && static_cast<uint32_t>(word.second >> 32) == tag",
           "static_cast<uint32_t>(word.first >> 32) == tag"),
    Mutant("channel_end_of_anybody", "channel", "a_block_that_is_not_at_the_end_is_refused",
           "neighbours/channel.hpp",
           "if (entry(side) != grid.block())",
           "if (false)"),
    Mutant("channel_word_beyond", "channel", "a_word_beyond_the_chunk_is_refused",
           "neighbours/channel.hpp",
           "if (i >= chunk_)",
           "if (i > chunk_)"),
    Mutant("channel_ends_forgotten", "channel", "a_reset_keeps_who_is_at_the_ends",
           "neighbours/channel_storage.hpp",
           "    base::reset();\n    this->write_marks(plan_.table, 0);",
           "    base::reset();"),

    # Windows.
    Mutant("window_tests_for_equality", "pace", "others_may_be_further_than_is_waited_for", "pace/window.hpp",
           "static_cast<int32_t>(value - goal) >= 0", "value == goal"),
    Mutant("window_lead_too_long", "pace", "nobody_leads_by_more_than_allowed", "pace/window.hpp",
           "if (epoch_ < at.lead)", "if (epoch_ <= at.lead)"),
    Mutant("window_leaver_takes_back_too_much", "pace", "who_leaves_takes_back_all_that_it_has_counted",
           "pace/window.hpp", "(slot < slot_of(at, epoch_) ? 1 : 0)", "1"),
    Mutant("window_blind_to_leavers", "pace", "who_waits_finds_out_who_has_left", "pace/window.hpp",
           "left_ = Grid::memory::template load<memory_order::acquire, Scope>(at.left());", ""),
    Mutant("window_counters_not_cleared", "pace", "a_launch_begins_with_counters_of_zero", "pace/window_storage.hpp",
           "words.clear(0, count_, launch);", "(void)launch;"),
    Mutant("window_gives_up_again", "pace", "who_has_given_up_waits_no_more", "pace/grid_window.hpp",
           "waits_ = false;", ""),
    Mutant("window_waits_out_its_own_limit", "pace", "one_that_has_given_up_is_enough", "pace/window.hpp",
           "Scope>(at.given_up()) != 0)",
           "Scope>(at.given_up()) == ~0u)"),
    Mutant("window_takes_barriers_along", "pace", "only_windows_of_best_effort_go_without_residency",
           "core/storage_control.hpp",
           "if (handles_[i]->kind != handle_kind::best_effort_window) return false;",
           "if (handles_[i]->kind == handle_kind::best_effort_window) return true;"),

    # Dependency counters.
    Mutant("surplus_publish_taken", "counters", "a_surplus_publish_is_named", "neighbours/dependency_counters.hpp",
           "if (__builtin_expect(before < last_expected_, 1)) return;",
           "if (before < last_expected_ || before < 1u << 31) return;"),
    Mutant("incomplete_epoch_taken", "counters", "a_publish_behind_an_incomplete_epoch_is_named", "neighbours/dependency_counters.hpp",
           "if (__builtin_expect(before < last_expected_, 1)) return;",
           "if (before < last_expected_ || before >= 1u << 31) return;"),
    Mutant("counter_behind_the_last", "counters", "a_counter_that_does_not_exist_is_named", "neighbours/dependency_counters.hpp",
           "number >= given_.places.count",
           "number > given_.places.count"),
    Mutant("list_cut_to_the_block", "counters", "lists_may_be_longer_than_a_block", "neighbours/dependency_counters.hpp",
           "for (uint32_t i = grid.thread(); i < counters.size(); i += grid.threads()) add(grid, counters[i]);",
           "if (grid.thread() < counters.size()) add(grid, counters[grid.thread()]);"),
    Mutant("awaited_list_cut_to_the_block", "counters", "lists_may_be_longer_than_a_block", "neighbours/dependency_counters.hpp",
           "for (uint32_t i = grid.thread(); i < counters.size(); i += grid.threads()) {",
           "for (uint32_t i = grid.thread(); i < counters.size(); i += counters.size()) {"),
    Mutant("epoch_forgotten_by_the_next_launch", "counters", "a_launch_goes_on_where_the_last_one_ended", "neighbours/dependency_counters.hpp",
           "own_epochs(grid), epoch_ + 1);",
           "own_epochs(grid), 1u);"),
    Mutant("counters_forget_a_loss", "counters", "a_loss_stays_a_loss", "neighbours/dependency_counters.hpp",
           "        standing_ = standing::lost;\n",
           ""),
    Mutant("first_call_blind_to_a_loss", "counters", "a_first_call_meets_the_loss", "neighbours/dependency_counters.hpp",
           "grid.sync_block_or(given_.log.lost_to_block(grid) != 0)",
           "grid.sync_block_or(false)"),
    Mutant("report_counts_all_epochs", "counters", "a_report_counts_epochs_of_its_launch", "neighbours/dependency_counters.hpp",
           "end - begin, epoch - first,",
           "end - begin, epoch,"),
    Mutant("publishes_counted_from_the_first_epoch", "counters", "a_report_counts_epochs_of_its_launch", "neighbours/dependency_counters.hpp",
           "found - Epochs::begin(epoch, at.expected[number])",
           "found - Epochs::begin(first, at.expected[number])"),
    Mutant("producer_ahead_is_missing", "counters", "who_has_gone_on_is_not_missing", "neighbours/dependency_counters.hpp",
           "!phase_reached(begun, epoch + 2)",
           "!phase_reached(begun, epoch + 3)"),
    Mutant("producer_never_seen_is_seen", "counters", "who_has_gone_on_is_not_missing", "neighbours/dependency_counters.hpp",
           "phase_reached(begun, first + 1)}",
           "phase_reached(begun, first)}"),
    Mutant("counters_of_a_larger_grid", "counters", "a_grid_has_as_many_blocks_as_its_counters", "neighbours/dependency_counters_storage.hpp",
           "this->header(handle_kind::exact_grid)",
           "this->header(handle_kind::whole_grid)"),
    Mutant("reset_forgets_where_epochs_begin", "counters", "a_reset_storage_is_as_new", "neighbours/dependency_counters_storage.hpp",
           "= Epochs::begin(first_epoch_, tables_.expected()[i]);",
           "= 0;"),

    # Broken contracts.
    Mutant("second_arrival_taken", "misuse", "an_arrival_must_be_waited_for", "grid/barrier.hpp",
           "    uint32_t lost = 0;\n    if (standing_ != standing::joined) {",
           "    uint32_t lost = 0;\n    if (standing_ != standing::joined && standing_ != standing::waiting) {"),
    Mutant("arrival_leaves_no_trace", "misuse", "an_arrival_must_be_waited_for", "grid/barrier.hpp",
           "standing_ = standing::waiting;",
           "standing_ = standing::joined;"),
    Mutant("spent_token_taken", "misuse", "a_token_is_good_for_one_wait", "grid/barrier.hpp",
           "if (token.spent_) grid.fail(given_.log.report, misuse::spent_token, 0);",
           ""),
    Mutant("moved_token_not_spent", "misuse", "a_token_that_was_moved_from_is_spent", "grid/barrier.hpp",
           "other.spent_ = true;",
           ""),
    Mutant("foreign_token_taken", "misuse", "a_token_belongs_to_its_barrier", "grid/barrier.hpp",
           "if (token.of_ != given_.words) grid.fail(given_.log.report, misuse::foreign_token, 0);",
           ""),
    Mutant("view_after_a_drop", "misuse", "a_view_comes_before_the_first_phase", "grid/barrier.hpp",
           "standing_ != standing::fresh || phase_ != 0",
           "standing_ != standing::fresh"),
    Mutant("handle_shared_by_threads", "misuse", "a_handle_is_for_one_thread", "grid/barrier.hpp",
           "if constexpr (Grid::handle_per_thread) standing_ = standing::original;",
           ""),
    Mutant("storage_shared_by_launches", "barrier", "a_storage_serves_one_launch_at_a_time", "core/host_backend.hpp",
           "if (running_.exchange(true)) {",
           "if (running_.exchange(false)) {"),
    Mutant("storage_never_released", "barrier", "a_storage_serves_one_launch_at_a_time", "core/host_backend.hpp",
           "void release() { running_ = false; }",
           "void release() {}"),
    Mutant("loss_not_told_to_other_gpus", "multi_gpu", "a_loss_is_told_to_other_gpus", "multi_gpu/across_gpus.hpp",
           "if (i == gpu_) continue;",
           "if (i == gpu_ || i != gpu_) continue;"),
    Mutant("loss_not_told_to_other_hosts", "multi_gpu", "a_loss_is_told_to_other_hosts", "multi_gpu/signalled.hpp",
           "Exchange::signals::add(grid, peers_[gpu_].claimed, +arrival_log::one_elsewhere, peers_[i]);",
           ""),
    Mutant("far_gpu_looked_for_where_it_is_not", "multi_gpu", "a_far_gpu_is_judged_by_its_word",
           "multi_gpu/signalled.hpp",
           "Exchange::words_of(peers_[gpu_].line[0]) + gpu);",
           "Exchange::words_of(peers_[gpu_].line[0]) + gpu_);"),
    Mutant("launch_blind_to_other_gpus", "multi_gpu", "a_launch_is_refused_after_a_loss_elsewhere",
           "core/storage_control.hpp",
           "if (!is_clean(*other.report) &&",
           "if (false &&"),
    Mutant("throw_not_told_to_other_gpus", "multi_gpu", "a_throw_ends_waits_on_other_gpus",
           "core/storage_control.hpp",
           "if (other.claimed != nullptr)",
           "if (other.claimed == nullptr)"),
    Mutant("throw_forgets_the_missing", "barrier", "the_missing_keep_their_names", "core/storage_control.hpp",
           "uint32_t nothing = 0;",
           "uint32_t nothing = timeout_report::timed_out;"),
    Mutant("who_has_left_comes_back", "misuse", "who_has_left_stays_away", "grid/barrier.hpp",
           "standing_ = standing::left;",
           "standing_ = standing::joined;"),

    # Neighbours.
    Mutant("list_not_mutual", "neighbours", "neighbours_are_mutual", "neighbours/neighbourhood.hpp",
           "if (back == block) return;",
           "return;"),
    Mutant("neighbours_beyond_the_threads", "neighbours", "one_thread_waits_for_all_its_neighbours", "neighbours/flags.hpp",
           "i < own.further && status == wait_status::completed; i += grid.threads()",
           "i < own.further && i < 2 && status == wait_status::completed; i += grid.threads()"),
    Mutant("neighbour_named_twice", "neighbours", "the_missing_are_named_once", "neighbours/flags.hpp",
           "if (row[before] == row[slot]) return false;  // each is named once",
           ""),
    Mutant("next_phase_is_missing", "neighbours", "one_that_has_gone_on_is_not_missing", "core/arrival_log.hpp",
           "const bool late = found.arrived != stamp && found.arrived != next_stamp;",
           "const bool late = found.arrived != stamp;"),
    Mutant("no_mark_is_an_entry", "neighbours", "who_never_came_has_not_started_at_the_wrap", "neighbours/flags.hpp",
           "static constexpr bool stamps_wrap = true;",
           "static constexpr bool stamps_wrap = false;"),
    Mutant("grid_of_any_size", "neighbours", "a_grid_of_another_size_is_refused", "core/storage_control.hpp",
           "if (launch.blocks != capacity_) {",
           "if (launch.blocks > capacity_) {"),
    Mutant("rule_not_asked", "neighbours", "the_rule_chooses_the_form", "neighbours/halo_storage.hpp",
           "given.form = rule.choose(launch.blocks, slots, words, sizeof(T), launch.threads);",
           "given.form = halo_form::flags;"),
    Mutant("host_launch_completes_nothing", "neighbours", "the_rule_chooses_the_form", "launch/host.hpp",
           "storage.complete(handle, request);",
           ""),
    Mutant("step_not_kept", "neighbours", "a_launch_begins_where_the_last_one_ended", "neighbours/halo.hpp",
           "(count_, step_);",
           "(count_, step_ - 1);"),
    Mutant("fresh_words_of_step_zero", "neighbours", "the_first_word_behind_the_wrap_is_waited_for", "neighbours/halo_storage.hpp",
           "if (first_step_ != 0) {",
           "if (first_step_ == 1) {"),
    Mutant("first_word_speaks_for_all", "neighbours", "a_neighbour_of_which_one_word_has_come_is_missing", "neighbours/halo_polls.hpp",
           "if (named[before] && block_of(grid, from[before]) == block)",
           "if (from[before].exists() && block_of(grid, from[before]) == block)"),
    Mutant("entry_to_a_lost_halo", "neighbours", "a_late_block_is_told_where_it_enters", "neighbours/halo.hpp",
           "if (grid.sync_block_or(given_.log.lost(grid) != 0)) {",
           "if (grid.sync_block_or(false)) {"),
    Mutant("pages_lie_side_by_side", "neighbours", "words_of_a_second_page_are_as_others", "neighbours/halo_words.hpp",
           "pages_per_block + i / page_words] + i % page_words;",
           "pages_per_block] + i;"),
    Mutant("own_words_lie_side_by_side", "neighbours", "words_of_a_second_page_are_as_others", "neighbours/halo_steps.hpp",
           "return given_.pages_per_block == 1 ? own_ + i :",
           "return true ? own_ + i :"),
    Mutant("overwritten_word_waited_for", "neighbours", "a_word_that_was_overwritten_ends_the_launch", "neighbours/halo_polls.hpp",
           "if (Words::is_gone(word, step)) Grid::current()",
           "if (Words::is_gone(word, step) && false) Grid::current()"),
    Mutant("halo_word_released", "machine_code", "neighbours", "neighbours/halo_steps.hpp",
           "memory::template store<memory_order::relaxed, scope::device>(buffer<unit>() + at,",
           "memory::template store<memory_order::release, scope::device>(buffer<unit>() + at,"),
    Mutant("put_behind_the_words", "neighbours", "a_word_that_is_not_there_is_not_put", "neighbours/halo.hpp",
           "store_word(own_place(is_there ? i : 0), value);\n    if (!is_there) refuse_word(given_.log.report, i);",
           "store_word(own_place(i), value);"),
    Mutant("lonely_word_put_as_a_pair", "neighbours", "a_word_that_is_not_there_is_not_put", "neighbours/halo.hpp",
           "i % 2 == 0 && i / 2 < given_.words / 2;",
           "i % 2 == 0 && i < given_.words;"),
    Mutant("early_word_taken", "neighbours", "what_was_asked_for_too_early_is_waited_for", "neighbours/halo_polls.hpp",
           "const wait_status status = await<halo_unit<8>>(from, asked.found, limit);",
           "const wait_status status = wait_status::completed;\n    (void)limit;"),
    Mutant("own_word_behind_the_words", "neighbours", "a_place_that_is_not_there_is_not_told", "neighbours/halo.hpp",
           "if (i >= words()) refuse_word(given_.log.report, i);",
           ""),
    Mutant("own_pair_at_an_odd_place", "neighbours", "a_place_that_is_not_there_is_not_told", "neighbours/halo.hpp",
           "if (i % 2 != 0 || i / 2 >= words() / 2)",
           "if (i / 2 >= words() / 2)"),

    # The fault-tolerant barrier.
    Mutant("closings_not_wrapped", "survivor", "closings_wrap_together", "rmw/survivor_agreement.hpp",
           "return static_cast<uint16_t>((closings + 1) & 0x7fff);",
           "return static_cast<uint16_t>(closings + 1);"),
    Mutant("closings_not_wrapped_back", "survivor", "closings_wrap_together", "rmw/survivor_agreement.hpp",
           "return static_cast<uint16_t>((closings - 1) & 0x7fff);",
           "return static_cast<uint16_t>(closings - 1);"),
    Mutant("late_ones_not_found_across_the_wrap", "survivor", "a_block_is_lost_across_the_wrap",
           "rmw/fault_tolerant_barrier.hpp",
           "missing = static_cast<int32_t>(static_cast<uint32_t>(flag) - (phase + 1)) < 0;",
           "missing = static_cast<uint32_t>(flag) < phase + 1;"),
    Mutant("survivor_arrives_without_fence", "machine_code", "survivor", "rmw/device.cuh",
           'asm volatile("fence.acq_rel.gpu;" ::: "memory");',
           ""),
    Mutant("survivor_fence_of_the_block", "machine_code", "survivor", "rmw/device.cuh",
           'asm volatile("fence.acq_rel.gpu;" ::: "memory");',
           'asm volatile("fence.acq_rel.cta;" ::: "memory");'),
    Mutant("survivor_flag_before_the_fence", "machine_code", "survivor", "rmw/device.cuh",
           'asm volatile("fence.acq_rel.gpu;" ::: "memory");\n      store<memory_order::relaxed>(flag, mark);',
           'store<memory_order::relaxed>(flag, mark);\n      asm volatile("fence.acq_rel.gpu;" ::: "memory");'),

    # Maximal matches.
    Mutant("common_letters_beyond_unknown_ones", "matches", "unknown_letters_match_nothing",
           "src/workloads/maximal_matches/suffix_array.cpp",
           "text[at + length] == text[other + length] && text[at + length] != unknown_base",
           "at + length < text.size() && other + length < text.size() && text[at + length] == text[other + length]"),
    Mutant("link_a_letter_short", "matches", "links_lead_to_the_letters_without_the_first",
           "src/workloads/maximal_matches/suffix_tree.cpp",
           "while (depth(at) + 1 < node.depth)",
           "while (depth(at) + 2 < node.depth)"),
    Mutant("link_to_the_root", "matches", "links_lead_to_the_letters_without_the_first",
           "src/workloads/maximal_matches/suffix_tree.cpp",
           "node.link = at;",
           ""),
    Mutant("a_letter_known_too_many", "matches", "devices_find_the_longest_pieces",
           "src/workloads/maximal_matches/match_text.h",
           "walk->known = walk->length > 0 ? walk->length - 1 : 0;",
           "walk->known = walk->length;"),
    Mutant("row_of_the_wrong_side", "matches", "devices_find_the_longest_pieces",
           "src/workloads/maximal_matches/match_text.h",
           "has_right && (!has_left || walk->right_common >= walk->left_common)",
           "has_right"),
    Mutant("unknown_matches_unknown", "matches", "unknown_letters_match_nothing",
           "src/workloads/maximal_matches/match_text.h",
           "#define MATCH_NOT_IN_QUERY 8u",
           "#define MATCH_NOT_IN_QUERY 4u"),
    Mutant("own_turns_in_step", "matches", "threads_pass_as_many_barriers_as_their_block",
           "src/workloads/maximal_matches/match_text.h",
           "MATCH_IN_STEP(edges, suffixes) ? reads.most[first / here.threads] : query.suffixes",
           "query.suffixes"),
    Mutant("left_end_not_looked_at", "matches", "matches_are_maximal",
           "src/workloads/maximal_matches/match_list.cpp",
           "if (position > 0 && before != unknown_base && text.bases[position - 1] == before) return;",
           ""),
    Mutant("rows_of_one_side", "matches", "matches_are_all_found",
           "src/workloads/maximal_matches/match_list.cpp",
           "for (uint32_t next = row + 1; next < suffixes.rows(); ++next)",
           "for (uint32_t next = suffixes.rows(); next < suffixes.rows(); ++next)"),
]


def path_of(mutant, include):
    """Where its header stands: the tool's sources are beside the library's headers."""
    if mutant.header.startswith("src/"):
        return os.path.join(os.path.dirname(os.path.abspath(include)), mutant.header)
    return os.path.join(include, "gpusync", mutant.header)


def mutated(mutant, include):
    """The text of the header with its fault."""
    with open(path_of(mutant, include), encoding="utf-8") as file:
        shipped = file.read()
    found = shipped.count(mutant.text)
    if found != 1:
        raise SystemExit(f"{mutant.name}: its text stands {found} times in {mutant.header}, not once. Bring the mutant "
                         f"up to the library as it is now:\n{mutant.text}")
    return shipped.replace(mutant.text, mutant.replacement)


def check(include, readme):
    """Whether the list, the library and what is written about both fit together."""
    with open(readme, encoding="utf-8") as file:
        described = file.read()
    failures = []
    for mutant in MUTANTS:
        try:
            mutated(mutant, include)
        except SystemExit as failure:
            failures.append(str(failure))
        row = next((line for line in described.splitlines() if line.startswith(f"| `{mutant.name}` |")), "")
        if f"`{mutant.program}.{mutant.check}`" not in row:
            failures.append(f"{mutant.name}: {readme} has no row in which {mutant.program}.{mutant.check} kills it")
    if len({mutant.name for mutant in MUTANTS}) != len(MUTANTS):
        failures.append("two mutants have one name")
    print("\n".join(failures) or f"{len(MUTANTS)} mutants")
    return 1 if failures else 0


# How checks are compiled; a precompiled header must have been, too.
FLAGS = ["-std=c++20", "-O0", "-w", "-pthread", "-DFMT_HEADER_ONLY"]
LINKER = ["-fuse-ld=gold"] if shutil.which("ld.gold") else []  # in half of the time


def mirror(original, copy, *way):
    """A folder of links to what is in another, but without the file that `way` leads to, a name for each folder: links to
    folders where they will do, for to make one for each of some hundred files takes half a second."""
    os.mkdir(copy)
    for name in os.listdir(original):
        if name != way[0]:
            os.symlink(os.path.join(original, name), os.path.join(copy, name))
        elif len(way) > 1:
            mirror(os.path.join(original, name), os.path.join(copy, name), *way[1:])


def kill(name, include, compiler, beside=None):
    """`beside`: the disassembler, or a header of clang's that was precompiled with FLAGS."""
    mutant = next((one for one in MUTANTS if one.name == name), None)
    if mutant is None:
        raise SystemExit(f"There is no mutant {name}.")
    with tempfile.TemporaryDirectory() as folder:
        root, name_of_include = os.path.split(os.path.abspath(include))
        copy_of_root = os.path.join(folder, "copy")
        copy, sources = os.path.join(copy_of_root, name_of_include), os.path.join(copy_of_root, "src")
        mirror(root, copy_of_root, *os.path.relpath(path_of(mutant, include), root).split(os.sep))
        with open(path_of(mutant, copy), "w", encoding="utf-8") as file:
            file.write(mutated(mutant, include))
        if mutant.program == "machine_code":
            command = [sys.executable, MACHINE_CODE, compiler, beside, copy, mutant.check]
        else:
            program = os.path.join(folder, "program")
            precompiled = ["-include-pch", beside] if beside else []
            subprocess.run([compiler, *FLAGS, *precompiled, f'-DGPUSYNC_ONLY_CHECK="{mutant.check}"',
                            f"-I{copy}", f"-I{sources}", f"-I{os.path.dirname(HERE)}",
                            os.path.join(HERE, f"{mutant.program}_checks.cpp"), *LINKER, "-o", program], check=True)
            command = [program, mutant.check]
        end = subprocess.run(command, capture_output=True, text=True, check=False)
    print(end.stdout, end.stderr, sep="")
    if end.returncode == 77:
        return 77
    # Only a check that has spoken counts: not a crash, and not an exception of what runs it.
    said = "FAILED: " if mutant.program == "machine_code" else "  not so: "
    if end.returncode == 1 and said in end.stdout:
        print(f"{name} is found out by {mutant.program}.{mutant.check}.")
        return 0
    print(f"{name} SURVIVES {mutant.program}.{mutant.check} (exit code {end.returncode}).")
    return 1


def main():
    words = sys.argv[1:]
    if words == ["flags"]:
        print(";".join(FLAGS))
        return 0
    if words == ["names"]:
        print(";".join(f"{mutant.program}:{mutant.name}" for mutant in MUTANTS))
        return 0
    if len(words) == 3 and words[0] == "check":
        return check(*words[1:])
    if len(words) in (4, 5) and words[0] == "kill":
        return kill(*words[1:])
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
