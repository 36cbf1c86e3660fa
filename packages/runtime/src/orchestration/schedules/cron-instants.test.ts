import { DirectiveError } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCron } from "./cron-instants.ts";

const time = (text: string): number => new Date(text).getTime();

async function between(expression: string, timeZone: string, from: string, to: string): Promise<readonly string[]> {
  const cron = await readCron(expression, timeZone);
  const found: string[] = [];
  let at = cron.next(time(from));
  for (; at !== undefined && at <= time(to); at = cron.next(at)) found.push(new Date(at).toISOString().slice(5, 16).replace("T", " "));
  return found;
}

describe("the instants of a cron expression", () => {
  it.each([
    // Berlin: 02:00 becomes 03:00 on 29 March, 03:00 becomes 02:00 on 25 October.
    ["30 2 * * *", "Europe/Berlin", "2026-03-27T12:00Z", "2026-03-30T12:00Z", ["03-28 01:30", "03-29 01:00", "03-30 00:30"]],
    ["30 2 * * *", "Europe/Berlin", "2026-10-23T12:00Z", "2026-10-26T12:00Z", ["10-24 00:30", "10-25 00:30", "10-26 01:30"]],
    // New York: 02:00 becomes 03:00 on 8 March, 02:00 becomes 01:00 on 1 November.
    ["30 2 * * *", "America/New_York", "2026-03-06T12:00Z", "2026-03-09T12:00Z", ["03-07 07:30", "03-08 07:00", "03-09 06:30"]],
    ["30 1 * * *", "America/New_York", "2026-10-30T12:00Z", "2026-11-02T12:00Z", ["10-31 05:30", "11-01 05:30", "11-02 06:30"]],
    // The clock of Cairo has no midnight on 24 April, that of Lord Howe goes back by half an hour.
    ["0 0 * * *", "Africa/Cairo", "2026-04-22T12:00Z", "2026-04-25T12:00Z", ["04-22 22:00", "04-23 22:00", "04-24 21:00"]],
    ["45 1 * * *", "Australia/Lord_Howe", "2026-04-03T00:00Z", "2026-04-06T00:00Z", ["04-03 14:45", "04-04 14:45", "04-05 15:15"]],
  ] as const)(
    "%s in %s comes once a day, at a time that is left out as soon as the clock is past it",
    async (expression, zone, from, to, instants) => {
      expect(await between(expression, zone, from, to)).toEqual(instants);
    },
  );

  it("of several fixed times come once each, those that are left out too, also when two of them fall together", async () => {
    expect(await between("30 2,14 * * *", "Europe/Berlin", "2026-03-28T14:00Z", "2026-03-29T14:00Z")).toEqual([
      "03-29 01:00",
      "03-29 12:30",
    ]);
    expect(await between("30 1,2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-25T12:00Z")).toEqual([
      "10-24 23:30",
      "10-25 00:30",
    ]);
    expect(await between("0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T12:00Z")).toEqual(["03-29 01:00"]);
  });

  it("of an interval follow the clock: none at times that are left out, and two at a time that comes twice", async () => {
    expect(await between("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-30T12:00Z")).toEqual([
      "03-30 00:00",
      "03-30 00:30",
    ]);
    expect(await between("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:59Z", "2026-10-25T02:00Z")).toEqual([
      "10-25 00:00",
      "10-25 00:30",
      "10-25 01:00",
      "10-25 01:30",
      "10-25 02:00",
    ]);
  });

  it("may have seconds, names and the last day of the month", async () => {
    expect(await between("*/20 0 12 * * *", "UTC", "2026-01-01T11:00Z", "2026-01-01T13:00Z")).toEqual([
      "01-01 12:00",
      "01-01 12:00",
      "01-01 12:00",
    ]);
    expect(await between("0 9 * * MON-FRI", "UTC", "2026-01-02T10:00Z", "2026-01-06T10:00Z")).toEqual(["01-05 09:00", "01-06 09:00"]);
    expect(await between("0 0 L * *", "UTC", "2026-02-01T00:00Z", "2026-03-31T12:00Z")).toEqual(["02-28 00:00", "03-31 00:00"]);
    expect(await between("@daily", "UTC", "2026-01-01T00:00Z", "2026-01-02T00:00Z")).toEqual(["01-02 00:00"]);
  });

  it("are on the 13th as well as on Fridays where both are named, as in every cron", async () => {
    expect(await between("0 0 13 * FRI", "UTC", "2026-01-08T00:00Z", "2026-01-16T12:00Z")).toEqual([
      "01-09 00:00",
      "01-13 00:00",
      "01-16 00:00",
    ]);
  });

  it("are the same looked at from behind, in every zone, over every change of the clocks", async () => {
    const field = fc.constantFrom("*", "0", "30", "*/7", "1,5", "2-3");
    await fc.assert(
      fc.asyncProperty(
        field,
        fc.constantFrom("*", "0", "2", "1-3", "*/5"),
        fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "UTC", "Asia/Kathmandu"),
        fc.constantFrom("2026-03-07T20:00Z", "2026-03-28T20:00Z", "2026-10-24T20:00Z", "2026-10-31T22:00Z", "2026-04-23T18:00Z"),
        fc.integer({ min: 1, max: 12 * 60 * 60_000 }),
        fc.integer({ min: 1, max: 40 }),
        async (minute, hour, zone, start, lengthMs, count) => {
          const cron = await readCron(`${minute} ${hour} * * *`, zone);
          const from = time(start);
          const forward: number[] = [];
          for (let at = cron.next(from); at !== undefined && at <= from + lengthMs; at = cron.next(at)) forward.push(at);
          expect(cron.newest(count, from, from + lengthMs)).toEqual(forward.slice(-count));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("end where no year has such a day", async () => {
    expect((await readCron("0 0 31 2 *", "UTC")).next(time("2026-01-01"))).toBeUndefined();
  });

  it.each([
    ["61 * * * *", "UTC", /"61 \* \* \* \*" can't be read: Invalid value for minute: 61/],
    ["* * *", "UTC", /exactly five, six, or seven space separated parts/],
    ["0 0 * * * * 2030", "UTC", /requires exactly 5 or 6 parts/],
    ["every day", "UTC", /"every day" can't be read/],
    ["0 0 * * *", "Mars/Base", /There is no time zone "Mars\/Base": give an IANA name/],
    ["0 0 * * *", "", /There is no time zone ""/],
  ])("%s in %s is refused, and it says what is wrong", async (expression, zone, message) => {
    const error: unknown = await readCron(expression, zone).catch((thrown: unknown) => thrown);
    expect(DirectiveError.is(error, "execution-failed") && error.failure).toMatchObject({ directive: "cron" });
    expect((error as Error).message).toMatch(message);
  });
});
