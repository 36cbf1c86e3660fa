import { sessionOf, type Loop } from "../../turn/loop.ts";

/** From the next request on the model is told of these as of its own. @param key of the call that brings it about */
export function loadTools(loop: Loop, key: string, names: readonly string[]): void {
  const { agent, execution } = loop;
  const loaded = sessionOf(loop).loadedTools?.get(agent.name) ?? [];
  const tools = names.filter((name) => !loaded.includes(name));
  if (tools.length > 0) execution.put(loadedKey(key), "tools-loaded", { agent: agent.name, tools });
}

/** Where that stands, by the key of the call. */
export function loadedKey(call: string): string {
  return `${call}/loaded`;
}
