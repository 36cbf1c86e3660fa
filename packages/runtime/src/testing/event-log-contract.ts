import { describe, expect, it } from "vitest";
import type { CreateEventLog } from "./event-log-contract/create-event-log.ts";
import { describeAppending } from "./event-log-contract/describe-appending.ts";
import { describeInbox } from "./event-log-contract/describe-inbox.ts";
import { describeLeases } from "./event-log-contract/describe-leases.ts";
import { describeReading } from "./event-log-contract/describe-reading.ts";
import { describeSealing } from "./event-log-contract/describe-sealing.ts";
import { describeSummaries } from "./event-log-contract/describe-summaries.ts";
import { failureOf } from "./event-log-contract/failure-of.ts";
import { recordsOf } from "./event-log-contract/records-of.ts";
import { LOG, record } from "./event-log-contract/sample-records.ts";

/** The tests that every `EventLog` must pass; one with an `index` passes those of `describeLogIndex`, too. */
export function describeEventLog(name: string, create: CreateEventLog): void {
  describe(`${name} keeps the EventLog contract`, () => {
    describeAppending(create);
    describeInbox(create);
    describeReading(create);
    describeLeases(create);
    describeSummaries(create);
    describeSealing(create);

    it("rejects everything after its disposal, readers that wait included", async () => {
      const log = await create(() => 0);
      await log.append(LOG, 0, [record("a")]);
      const lease = await log.acquire(LOG, { owner: "me", ttlMs: 100 });
      const reader = log.read(LOG, { after: 1, follow: true })[Symbol.asyncIterator]();
      const waiting = failureOf(reader.next());
      await log[Symbol.asyncDispose]();
      await log[Symbol.asyncDispose]();
      await lease.release();
      const calls = [
        waiting,
        ...[
          log.append(LOG, 1, [record("b")]),
          recordsOf(log.read(LOG)),
          log.head(LOG),
          log.list(),
          log.delete(LOG),
          log.acquire(LOG, { owner: "me", ttlMs: 100 }),
          lease.renew(),
        ].map(failureOf),
      ];
      for (const failure of await Promise.all(calls)) expect(failure).toMatchObject({ kind: "closed" });
    });
  });
}
