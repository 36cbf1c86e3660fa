import type { RestateServer } from "./restate-server.ts";

/** Invocations whose journal did not fit what their handler did when it was called again (570): they would be called again for ever. */
export async function journalFaults({ sql }: Pick<RestateServer, "sql">): Promise<readonly unknown[]> {
  const events = await sql(`SELECT id, event_type, event_json FROM sys_journal_events WHERE event_json LIKE '%"error_code":570,%'`);
  const failing = await sql("SELECT id, target, last_failure FROM sys_invocation WHERE last_failure_error_code = 'RT0016'");
  return [...events, ...failing];
}
