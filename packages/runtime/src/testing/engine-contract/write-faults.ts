import type { EngineScenario } from "./engine-scenario.ts";
import type { CountedCall } from "./tool-counters.ts";

/** Where the tools of a scenario that write ran more or less often than they were to, or one call of them ran twice. */
export function writeFaults({ writes = {} }: Pick<EngineScenario, "writes">, calls: readonly CountedCall[]): readonly string[] {
  const written = calls.filter(({ effect }) => effect === "write");
  const faults: string[] = [];
  for (const tool of new Set([...Object.keys(writes), ...written.map((call) => call.tool)])) {
    const count = written.filter((call) => call.tool === tool).length;
    if (count !== (writes[tool] ?? 0)) faults.push(`${tool} ran ${count} times, not ${writes[tool] ?? 0}`);
  }
  for (const { tool, idempotencyKey } of written) {
    const count = written.filter((call) => call.idempotencyKey === idempotencyKey).length;
    if (count > 1) faults.push(`one call of ${tool} (${idempotencyKey}) ran ${count} times`);
  }
  return [...new Set(faults)];
}
