import { createServer, type AddressInfo } from "node:net";

/** So many ports of the loopback address on which nobody listens. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((done, failed) => {
          server.once("error", failed);
          server.listen(0, "127.0.0.1", () => done((server.address() as AddressInfo).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise<void>((done) => server.close(() => done()))));
  return ports;
}
