/** What is thrown on purpose, so that it can be told from a mistake. */
export class SimulatedFailure extends Error {
  override readonly name = "SimulatedFailure";
}
