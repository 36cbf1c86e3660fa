import { createPostgres } from "@keelson/postgres";
import { writeWithoutEnd } from "../../../runtime/test/processes/write-without-end.ts";

const [connectionString = "", schema = "", writer = "", from = "0"] = process.argv.slice(2);
await writeWithoutEnd(createPostgres({ connectionString, schema, maxConnections: 2 }), writer, Number(from));
