import type { Transport } from "@modelcontextprotocol/client";

/** The same transport, whose answers are heard a moment later: the SDK looks at what it is told of a request later than at its answer, and both may come in one piece. */
export function answersLast<T extends Transport>(transport: T): T {
  return new Proxy(transport, {
    set(target, key, value: unknown) {
      if (key === "onmessage" && typeof value === "function") target.onmessage = delayed(value as Hear);
      else Reflect.set(target, key, value);
      return true;
    },
  });
}

type Hear = NonNullable<Transport["onmessage"]>;

function delayed(hear: Hear): Hear {
  return (message, extra) => {
    if ("method" in message) hear(message, extra);
    else setImmediate(hear, message, extra);
  };
}
