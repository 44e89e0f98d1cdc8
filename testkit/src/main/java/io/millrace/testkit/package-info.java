/**
 * What a {@link io.millrace.poll.Poll} owes its users, as JUnit suites, and what such tests are written with.
 *
 * <p>Each {@code …Contract} is one theme. To run them over a backend of your own, extend each of them and name the backend:
 *
 * {@snippet :
 * class MyBackendTest {
 *   private static final TestedBackend MINE = TestedBackend.named("mine");
 *   &#64;Nested class Fairness extends FairnessContract { Fairness() { super(MINE); } }
 * }
 * }
 *
 * <p>The backend is found by the service loader. Everything here is written against the public API and knows nothing of {@code
 * sys}. A test's display name begins with the ids of CONTRACT.md that it proves.
 */
package io.millrace.testkit;
