import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEndpointHandler, service, type Context } from "@restatedev/restate-sdk";
import { expect, it } from "vitest";
import { errorsOnly } from "./errors-only.ts";
import { eventually } from "./eventually.ts";
import { journalFaults } from "./journal-faults.ts";
import { startRestateServer } from "./restate-server.ts";
import { isWithoutServer } from "./server-binary.ts";

it.skipIf(isWithoutServer)(
  "a handler that does something else when it is called again is found, and a failure that only mentions the number is not",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "keelson-journal-faults-"));
    const server = await startRestateServer(directory);
    let isAgain = false;
    const planted = service({
      name: "planted",
      handlers: {
        go: async (ctx: Context): Promise<void> => {
          const before = isAgain;
          isAgain = true;
          if (before) await ctx.sleep(1);
          else await ctx.run("step", () => 1);
          throw new Error("It fails at port 45709.");
        },
      },
    });
    const endpoint = createServer(createEndpointHandler({ services: [planted], logger: errorsOnly })).listen(0, "127.0.0.1");
    try {
      await once(endpoint, "listening");
      await server.register(`http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`);
      await fetch(`${server.ingress}/planted/go/send`, { method: "POST" });
      const found = await eventually("a journal that does not fit", async () => {
        const faults = await journalFaults(server);
        // Of both: the failure that mentions the number is there to be taken for the other.
        const all = await server.sql("SELECT id FROM sys_journal_events");
        return faults.length > 0 && all.length >= 2 ? faults : undefined;
      });
      expect(found.filter((fault) => JSON.stringify(fault).includes("45709"))).toEqual([]);
    } finally {
      endpoint.close();
      await server.kill();
      await rm(directory, { recursive: true, force: true });
    }
  },
  30_000,
);
