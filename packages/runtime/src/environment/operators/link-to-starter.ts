import { Socket } from "node:net";
import { createLineReader, messageLines } from "./message-lines.ts";
import type { FromOperator, ToOperator } from "./operator-messages.ts";

/** The variable that says by which descriptor the one that started an operator is reached, where that is not the channel of a child process. */
export const LINK_VARIABLE = "KEELSON_OPERATOR_LINK";

/** Its value where messages go over standard input and output. */
export const STDIO_LINK = "stdio";

/** The other end of an `OperatorLink`, in the process of the operator. */
export interface StarterLink {
  send(message: FromOperator): void;
  listen(listener: (message: ToOperator) => void): void;
}

/** @throws Error in a process that no environment started */
export function linkToStarter(): StarterLink {
  const descriptor = process.env[LINK_VARIABLE];
  if (descriptor !== undefined) {
    // Whoever this process starts is not linked.
    delete process.env[LINK_VARIABLE];
    return descriptor === STDIO_LINK ? overStdio() : overDescriptor(Number(descriptor));
  }
  if (process.send === undefined)
    throw new Error("This process was not started by an environment. Give its module to `createProcessEnvironment({ module })`.");
  return overChannel();
}

function overChannel(): StarterLink {
  return {
    send(message) {
      // What the one that started it does not hear, since it is gone, has no other listener.
      if (process.connected) process.send?.(message, undefined, undefined, () => {});
    },
    listen(listener) {
      process.on("message", listener);
      process.once("disconnect", leave);
    },
  };
}

function overDescriptor(fd: number): StarterLink {
  let listener: ((message: ToOperator) => void) | undefined;
  const socket = new Socket({ fd, readable: true, writable: true });
  const send = messageLines(socket, { onMessage: (message) => listener?.(message as ToOperator) });
  socket.once("close", leave);
  return {
    send,
    listen(given) {
      listener = given;
    },
  };
}

function overStdio(): StarterLink {
  let listener: ((message: ToOperator) => void) | undefined;
  const write = process.stdout.write.bind(process.stdout);
  // What the operator prints must not stand between messages.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const take = createLineReader({ onMessage: (message) => listener?.(message as ToOperator) });
  process.stdin.on("data", take);
  process.stdin.once("end", leave);
  return {
    send(message) {
      // A process that it started may have left a line without an end.
      write(`\n${JSON.stringify(message)}\n`);
    },
    listen(given) {
      listener = given;
    },
  };
}

/** Nobody waits any more. */
function leave(): void {
  process.exit(1);
}
