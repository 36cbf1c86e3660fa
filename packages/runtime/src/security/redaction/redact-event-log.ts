import type { EventLog } from "@keelson/protocol";
import { aroundEventLog } from "../../state/kit/around-event-log.ts";
import type { Redactor } from "./redactor.ts";

/**
 * A log that keeps no secrets: they are taken out of the data of records, of summaries and of the texts that records are found by. Records that
 * were written without this are read unchanged. Ids of logs, keys and types of records stay as they are.
 */
export function redactEventLog(log: EventLog, redactor: Redactor): EventLog {
  const redacted = aroundEventLog(log, {
    append: (id, expectedSeq, records, options = {}) =>
      log.append(
        id,
        expectedSeq,
        records.map((record) => ({ ...record, data: redactor.redactJson(record.data) })),
        {
          ...options,
          ...(options.summary && { summary: redactor.redactJson(options.summary) }),
          ...(options.texts && { texts: options.texts.map((text) => redactor.redact(text)) }),
        },
      ),
  });
  // The words that it is searched by went through here.
  if (log.index !== undefined) Object.defineProperty(redacted, "index", { enumerable: true, get: () => log.index });
  if ("state" in log) Object.defineProperty(redacted, "state", { enumerable: true, get: () => log.state });
  return redacted;
}
