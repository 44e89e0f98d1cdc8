/**
 * What a {@link io.millrace.poll.Poll} and an {@link io.millrace.engine.EventManager} guarantee, as JUnit suites, and
 * helpers for such tests.
 *
 * <p>Each {@code …Contract} has one subject. To run them on a backend of your own, extend each of them and name the
 * backend:
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
 * <p>An event manager of your own has to pass {@link io.millrace.testkit.EventManagerContract}, {@link
 * io.millrace.testkit.AlarmContract} and {@link io.millrace.testkit.EndingContract} and, if it has descriptors, {@link
 * io.millrace.testkit.ReadinessEventManagerContract} or {@link io.millrace.testkit.CompletionEventManagerContract}. Say
 * how to open it, and the suites do the rest:
 *
 * {@snippet :
 * class MyManagerTest {
 *   &#64;Nested class Tasks extends EventManagerContract {
 *     &#64;Override protected EventManager open() { return new MyManager(); }
 *   }
 * }
 * }
 *
 * <p>Handlers of connections are tested with {@link io.millrace.testkit.TestConnection}, which needs no sockets. It and real connections pass {@link io.millrace.testkit.ConnectionContract}.
 *
 * <p>Everything else here is written against the public API and knows nothing of {@code
 * sys}. A test's display name begins with the ids of {@code docs/contract.md} that it proves.
 *
 * <p>There are more than 30 types because each suite is a class that users extend, and one import is enough for all of
 * them.
 */
package io.millrace.testkit;
