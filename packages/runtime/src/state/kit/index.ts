// What every event log, blob store and ledger needs, and none should write again: see docs/guides/stores.md. What decides here waits
// for nothing; a backend looks up what a decision needs and keeps what comes of it, within a transaction of its own.

// Event logs
export { type AppendPlan, type AppendRequest, type LogContent, planAppend, type StandingRecord } from "./plan-append.ts";
export { assertName, encodeRecords, encodeSummary, encodeTogether, MAX_RECORD_BYTES } from "./encoded-record.ts";
export { assertExpectedSeq, assertSealBefore, assertTime, closedLog, deletedLog } from "./log-conflict.ts";
export { assertEpoch, assertLeaseRequest, createLease, type LeaseHeld, leaseHeld, type LeaseState, otherHolder } from "./lease-state.ts";
export { readRecords, type ReadOptions, type RecordSource, timeAt } from "./read-records.ts";
export { type PackedTexts, packTexts, unpackTexts } from "./packed-texts.ts";
export { SegmentSize } from "./segment-size.ts";
export { aroundEventLog } from "./around-event-log.ts";
export { mapRecords } from "./map-records.ts";
export { compareCodePoints } from "./compare-code-points.ts";
export { areWordless, createHeldTexts, type HeldAppend, type HeldTexts, textsByKey, type TextsByKey } from "./held-texts.ts";
export { unindexedStretches } from "./unindexed-stretches.ts";

// Blob stores
export { assertBlob, closedBlobStore, digestOf, MAX_BLOB_BYTES, missingBlob, sliceBlob } from "./blob-content.ts";

// Budget ledgers
export { type BudgetBackend, type BudgetLedgerTerms, type BudgetNeeds, createBudgetLedger } from "./create-budget-ledger.ts";
export {
  type BudgetRows,
  type Line,
  lineOf,
  type PlaceRow,
  type ReservationRow,
  type ScopeRow,
  scopeOfLine,
  unitOfLine,
} from "./budget-rows.ts";
export { type BudgetChanges, type BudgetReading, BudgetSheet } from "./budget-sheet.ts";
export { type Amounts, readAmounts, type Standing, writeAmounts } from "./budget-amounts.ts";
export { LOOK_FOR_DEAD_EVERY_MS, PRESUME_SPENT_AFTER_MS, REMEMBERED_RETIRED, REMEMBERED_SETTLEMENTS } from "./budget-ledger-terms.ts";
export { type Poll, pollAlive, pollByTimer } from "./poll.ts";

// State stores
export { type KeyRange, keyRange, keysInRange } from "./key-page.ts";
export { fuseRanks } from "./rank-fusion.ts";
export { bestMatches, candidatesFor, scoreOf, type SearchTerms, searchTerms } from "./search-terms.ts";
export { SHORTEST_BEGINNING, textRelevance } from "./text-relevance.ts";
export { MAX_QUERY_WORDS, searchableText, snippetAround, wordsOf } from "./searchable-text.ts";
export { addMeaning, embeddedText, type MeaningSearch } from "./search-by-meaning.ts";
export {
  assertKey,
  closedStateStore,
  encodeWrite,
  isLive,
  LAST_TIME_MS,
  planWrite,
  type StateEntry,
  type StateWrite,
  storedValue,
} from "./state-entry.ts";
export { isLinkKey, linkOfKey, linksOf, type StateLink } from "./state-link.ts";
export { scopeName } from "./state-scope.ts";
export { toStateError } from "./state-failure.ts";

// All of them, and whatever else takes options
export { checkMethodOptions, type MethodOptions } from "../../json/check-method-options.ts";
export {
  BLOB_STORE_METHODS,
  EVENT_LOG_METHODS,
  LOG_INDEX_METHODS,
  ORCHESTRATOR_METHODS,
  STATE_STORE_METHODS,
} from "../../json/interface-methods.ts";
export { checkOptionNames, type OptionNames } from "../../json/option-names.ts";
