/**
 * What a {@link io.millrace.poll.Poll} and an {@link io.millrace.engine.EventManager} owe their users, as JUnit suites, and what such tests are
 * written with.
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
 * <p>The backend is found by the service loader.
 *
 * <p>An event manager of your own passes {@link io.millrace.testkit.EventManagerContract}, {@link io.millrace.testkit.AlarmContract} and {@link
 * io.millrace.testkit.EndingContract}, and, if it has descriptors, {@link io.millrace.testkit.ReadinessEventManagerContract} and {@link
 * io.millrace.testkit.CompletionEventManagerContract}. Say how to open it, and the suites do the rest:
 *
 * {@snippet :
 * class MyManagerTest {
 *   &#64;Nested class Tasks extends EventManagerContract {
 *     &#64;Override protected EventManager open() { return new MyManager(); }
 *   }
 * }
 * }
 *
 * <p>Everything here is written against the public API and knows nothing of {@code
 * sys}. A test's display name begins with the ids of {@code docs/contract.md} that it proves.
 *
 * <p>There are more than 30 types because each suite is a class that users extend, and one import is enough for all of
 * them.
 */
package io.millrace.testkit;
