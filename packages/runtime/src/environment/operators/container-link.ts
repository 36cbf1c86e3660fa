import { randomUUID } from "node:crypto";
import { removeContainer } from "../container/container-owner.ts";
import type { DockerEngine } from "../container/docker-engine.ts";
import { splitOutput } from "../container/split-output.ts";
import { createOutputWindow } from "../execution/output-window.ts";
import { createLineReader } from "./message-lines.ts";
import { endedEarly, heldTooMuch, LAST_WORDS } from "./operator-ending.ts";
import type { OperatorLink } from "./operator-link.ts";
import type { FromOperator } from "./operator-messages.ts";

/** Makes and starts a container whose process is an operator; messages go over its standard input and output. */
export async function startInContainer(engine: DockerEngine, config: unknown, signal: AbortSignal): Promise<OperatorLink> {
  // Named here, it can be removed even where nobody heard that it was made.
  const name = `keelson-${randomUUID()}`;
  try {
    await engine.call("POST", `/containers/create?name=${name}`, { body: config, signal });
    return await attached(engine, name, signal);
  } catch (error) {
    await removeContainer(engine, name).catch(() => {});
    throw error;
  }
}

async function attached(engine: DockerEngine, name: string, signal: AbortSignal): Promise<OperatorLink> {
  const stream = await engine.upgrade(`/containers/${name}/attach?stream=1&stdin=1&stdout=1&stderr=1`);
  const printed = createOutputWindow(0, LAST_WORDS);
  let hear: (message: FromOperator) => void = () => {};
  const take = createLineReader({
    onMessage: (message) => hear(message as FromOperator),
    onOther: (line) => printed.push(Buffer.from(line)),
  });
  const split = splitOutput({ onStdout: take, onStderr: (bytes) => printed.push(bytes) });
  stream.on("data", (piece: Buffer) => {
    try {
      split(piece);
    } catch (error) {
      stream.destroy(error as Error);
    }
  });
  // That the process is over is told by `wait`.
  stream.on("error", () => stream.destroy());
  const closed = new Promise<void>((resolve) => stream.once("close", resolve));
  const over = engine.call("POST", `/containers/${name}/wait?condition=next-exit`);
  over.catch(() => {});
  await engine.call("POST", `/containers/${name}/start`, { signal });
  const ended = Promise.all([over, closed]).then(async ([{ body }]) => {
    const { body: state } = await engine.call("GET", `/containers/${name}/json`);
    if ((state as { readonly State?: { readonly OOMKilled?: boolean } }).State?.OOMKilled === true) throw heldTooMuch();
    throw endedEarly((body as { readonly StatusCode: number }).StatusCode, null, printed.text());
  });
  ended.catch(() => {});
  return {
    ended,
    send(message) {
      if (stream.writable) stream.write(`${JSON.stringify(message)}\n`);
    },
    hear(listener) {
      hear = listener;
    },
    async [Symbol.asyncDispose]() {
      stream.destroy();
      await removeContainer(engine, name);
    },
  };
}
