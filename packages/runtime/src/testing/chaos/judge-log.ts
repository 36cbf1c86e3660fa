import { sessionLog, type EventLog, type LogRecord, type SessionId } from "@keelson/protocol";
import { shortId } from "./step.ts";

/**
 * What must be so of any session's log: its keys are single, each run ends at most once with nothing of it after that, nothing follows a
 * suspension but a resume, every call has one result, every inference is settled.
 */
export async function judgeLog(log: EventLog, session: SessionId, isOver: boolean): Promise<readonly string[]> {
  const problems: string[] = [];
  const keys = new Set<string>();
  const ended = new Set<string>();
  const asked = new Map<string, string>();
  const finished = new Set<string>();
  const inferences = new Set<string>();
  let suspended: LogRecord | undefined;
  const say = (record: LogRecord, what: string): void => {
    problems.push(`record ${record.seq} of ${session} (${record.type}) ${what}`);
  };
  for await (const record of log.read(sessionLog(session))) {
    const { key, type, data } = record;
    const run = key.slice(0, key.indexOf("/"));
    if (keys.has(key)) say(record, `has the key ${key}, which stands before it already`);
    keys.add(key);
    if (ended.has(run)) say(record, "comes after the end of its run");
    if (suspended !== undefined && type !== "run-resume" && type !== "run-start")
      say(record, "comes after a suspension that nobody resumed");
    suspended = type === "run-suspend" ? record : undefined;
    if (type === "inference") inferences.add(key);
    if (type === "usage") inferences.delete(key.slice(0, key.lastIndexOf("/")));
    if (type === "run-complete" || type === "error") {
      ended.add(run);
      for (const inference of inferences) say(record, `ends the run, and the model call ${inference} was never settled`);
      inferences.clear();
    }
    if (type === "tool-calls-start")
      for (const { callId, name } of data["calls"] as readonly { readonly callId: string; readonly name: string }[])
        asked.set(callId, name);
    if (type === "tool-result") {
      const call = data["callId"] as string;
      if (finished.has(call)) say(record, `is a second result of the call ${shortId(call)} of \`${String(data["name"])}\``);
      if (!asked.has(call)) say(record, `is the result of a call that nobody asked for: ${shortId(call)}`);
      finished.add(call);
    }
    if (type === "turn-end")
      for (const [call, name] of asked)
        if (!finished.has(call)) say(record, `ends the turn, and the call ${shortId(call)} of \`${name}\` has no result`);
  }
  if (isOver && ended.size === 0) problems.push(`the run of ${session} has no end in its log`);
  return problems;
}
