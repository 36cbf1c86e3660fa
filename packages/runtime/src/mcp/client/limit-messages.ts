import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../platform/clock.ts";
import { createMessageLimit, EXCEEDED_LIMIT } from "./message-limit.ts";

type Hear = NonNullable<Transport["onmessage"]>;

/**
 * The same transport, which is closed when the server sends more unrequested messages than {@link createMessageLimit} allows. `ending`
 * is the reason, as it is for programs.
 */
export function limitMessages<T extends Transport>(transport: T, clock: Clock): T {
  const limit = createMessageLimit(clock);
  const asked = new Set<string | number>();
  let ending: string | undefined;
  const hearing =
    (hear: Hear): Hear =>
    (message, extra) => {
      if (ending !== undefined) return;
      const isAnswer = !("method" in message) && message.id !== undefined && asked.delete(message.id);
      if (isAnswer || !limit.isExceeded()) return hear(message, extra);
      ending = EXCEEDED_LIMIT;
      void transport.close().catch(() => {});
    };
  return new Proxy(transport, {
    get(target, key) {
      if (key === "ending") return ending ?? Reflect.get(target, key, target);
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function" || key === "onmessage" || key === "onclose" || key === "onerror") return value;
      const method = (value as (...given: unknown[]) => unknown).bind(target);
      if (key !== "send") return method;
      return (message: JSONRPCMessage, ...more: unknown[]) => {
        if ("method" in message && "id" in message) asked.add(message.id);
        return method(message, ...more);
      };
    },
    set(target, key, value: unknown) {
      if (key !== "onmessage" || typeof value !== "function") return Reflect.set(target, key, value, target);
      target.onmessage = hearing(value as Hear);
      return true;
    },
  });
}
