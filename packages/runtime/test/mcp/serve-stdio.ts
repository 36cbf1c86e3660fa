// A server over standard input and output; `old` speaks only the revisions with a handshake.
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { createSdkServer } from "./sdk-server.ts";

if (process.argv[2] === "old") await createSdkServer().connect(new StdioServerTransport());
else serveStdio(createSdkServer);
