/**
 * Direct style: how a thread that waits for a connection and the connection's loop get together.
 *
 * <p><b>What lives here.</b> {@link io.millrace.server.direct.SocketLink} is the handler of a connection whose user is a
 * thread that blocks. All that the thread waits for goes through an {@link io.millrace.server.direct.Exchange}, one for
 * each direction: one atomic word that decides between the loop, which has something for it, and the thread, which gives
 * up. What users see of it is {@code DirectServer}, {@code DirectClient} and {@code DirectSocket}.
 *
 * <p><b>Who may call it.</b> {@code io.millrace.server}. <b>What it may call.</b> {@code connection} and {@code group},
 * and the virtual threads of the engine.
 */
package io.millrace.server.direct;
