/**
 * Sets of many futures or streams, driven fairly.
 *
 * <p><b>What lives here.</b> {@link io.millrace.task.FuturesUnordered}, {@link io.millrace.task.StreamsUnordered} and
 * {@link io.millrace.task.IndexedStreamsUnordered} hold children. A child is polled when its {@link
 * io.millrace.task.Waker} was called, at most once per cycle, and the set yields results as they arrive.
 *
 * <p>A child is a {@link io.millrace.task.Pollable} or a {@link io.millrace.task.PollableStream}. Both have adapters
 * from and to the types of the JDK: stages, callables on virtual threads, iterators, {@code Flow} publishers. A set is
 * itself a stream, so sets can be nested.
 *
 * <p>To read the code, start with {@code Unordered} for the cycle; then {@code WakeSet} for the two bit sets and why no
 * wake-up is lost between them, and {@code Child} for the waker that outlives its child.
 *
 * <p>There are more than 30 types because half of them, 19, are package-private parts and adapters: in a package of
 * their own they, and what they use of the public classes, would have to be public.
 *
 * <p><b>Who may call it.</b> Users; no module of the library depends on it. Any thread may add, remove and wake; one
 * thread at a time consumes.
 *
 * <p><b>What it may call.</b> {@code io.millrace.poll}, and that only through {@link io.millrace.task.StreamSource},
 * which makes a set a source.
 */
package io.millrace.task;
