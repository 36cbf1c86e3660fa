import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandboxExecutor } from "keelson/environment";
import { createPlaceholderSecrets } from "keelson/secrets";
import { expect, it, onTestFinished } from "vitest";
import { describeWithBubblewrap } from "./with-bubblewrap.ts";

const VALUE = "s3cret-value-of-the-service";
/** Asks the proxy that the variables name, as every client does, with what the command finds as its token. */
const ASK = `const { request } = require("node:http");
const proxy = new URL(process.env.HTTP_PROXY);
const [, url] = process.argv;
const headers = { host: new URL(url).host, authorization: "Bearer " + process.env.TOKEN };
request({ host: proxy.hostname, port: proxy.port, path: url, headers }, (response) => response.pipe(process.stdout)).end();`;

describeWithBubblewrap("a placeholder of a secret in a sandbox", () => {
  it("is all that a command sees, and becomes the value at the edge, on its way to the allowed host alone [LA-20] [EN-02]", async () => {
    const workspace = realpathSync(mkdtempSync(join(tmpdir(), "keelson-edge-")));
    const received: IncomingHttpHeaders[] = [];
    const service = createServer((request, response) => (received.push(request.headers), void response.end("served")));
    await new Promise<void>((resolve) => void service.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      service.close();
      rmSync(workspace, { recursive: true, force: true });
    });
    const executor = createSandboxExecutor(
      { network: { enabled: true, allowedDomains: ["api.example.com", "other.example.com"] } },
      {
        workspace,
        secrets: createPlaceholderSecrets({
          secrets: { resolve: async () => VALUE },
          allow: [{ variable: "TOKEN", reference: "env:TOKEN", hosts: ["api.example.com"], allowPlainHttp: true }],
        }),
        resolve: async () => ["93.184.215.14"],
        dial: () => connect((service.address() as AddressInfo).port, "127.0.0.1"),
      },
    );
    const ask = (url: string) => executor.execute({ program: process.execPath, args: ["-e", ASK, url] });

    const seen = await executor.execute({
      command: 'echo "$TOKEN"; env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"',
    });
    expect(seen.stdout).toMatch(/^keelson-placeholder-[0-9a-f]{32}\n/);
    expect(seen.stdout).not.toContain(VALUE);
    expect(await ask("http://api.example.com/items")).toMatchObject({ stdout: "served", exitCode: 0 });
    expect(received.map(({ authorization }) => authorization)).toEqual([`Bearer ${VALUE}`]);
    expect((await ask("http://other.example.com/items")).stdout).toMatch(/^Refused by the sandbox: .*env:TOKEN/);
    expect(received).toHaveLength(1);
  });
});
