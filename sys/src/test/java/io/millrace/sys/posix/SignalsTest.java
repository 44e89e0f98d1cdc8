package io.millrace.sys.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(OS.WINDOWS)
class SignalsTest {
    private final LinkedBlockingQueue<String> heard = new LinkedBlockingQueue<>();

    @Test
    void aSignalReachesWhoeverListens() throws Exception {
        Signals.Listening first = Signals.listen("USR1", () -> heard.add("first"));
        Signals.Listening second = Signals.listen("USR1", () -> heard.add("second"));
        raise("USR1");
        assertThat(next()).isEqualTo("first");
        assertThat(next()).isEqualTo("second");

        first.close();
        first.close();
        raise("USR1");
        assertThat(next()).isEqualTo("second");
        second.close();
        assertThat(heard).isEmpty();
    }

    @Test
    void whatWasThereBeforeIsPutBack() throws Exception {
        Object before = handle("USR1", handler("theirs"));
        try {
            Signals.Listening ours = Signals.listen("USR1", () -> heard.add("ours"));
            raise("USR1");
            assertThat(next()).isEqualTo("ours");
            ours.close();
            raise("USR1");
            assertThat(next()).isEqualTo("theirs");
        } finally {
            handle("USR1", before);
        }
    }

    @Test
    void whatSomebodyPutOverOursStays() throws Exception {
        Signals.Listening ours = Signals.listen("USR1", () -> heard.add("ours"));
        Object before = handle("USR1", handler("theirs"));
        try {
            ours.close();
            raise("USR1");
            assertThat(next()).isEqualTo("theirs");
        } finally {
            handle("USR1", before);
            handle("USR1", type("sun.misc.SignalHandler").getField("SIG_DFL").get(null));
        }
    }

    @Test
    void numbersAndNames() {
        assertThat(Signals.number("TERM")).isEqualTo(15);
        assertThat(Signals.describe(15)).isEqualTo("SIGTERM");
        assertThat(Signals.describe(999)).isEqualTo("signal 999");
        assertThat(Signals.plainName("SIGHUP")).isEqualTo("HUP");
        assertThatThrownBy(() -> Signals.number("NONSENSE"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("there is no signal NONSENSE");
        assertThatThrownBy(() -> Signals.listen("KILL", () -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the kernel lets nobody catch it");
    }

    private String next() throws InterruptedException {
        return heard.poll(20, TimeUnit.SECONDS);
    }

    private Object handler(String says) throws ClassNotFoundException {
        return Proxy.newProxyInstance(
                SignalsTest.class.getClassLoader(),
                new Class<?>[] {type("sun.misc.SignalHandler")},
                (proxy, method, arguments) -> method.getName().equals("handle") ? nothing(heard.add(says)) : null);
    }

    private static Object nothing(boolean ignored) {
        return null;
    }

    private static Object handle(String name, Object handler) throws ReflectiveOperationException {
        Class<?> signal = type("sun.misc.Signal");
        return signal.getMethod("handle", signal, type("sun.misc.SignalHandler"))
                .invoke(null, signal.getConstructor(String.class).newInstance(name), handler);
    }

    private static void raise(String name) throws ReflectiveOperationException {
        Class<?> signal = type("sun.misc.Signal");
        signal.getMethod("raise", signal)
                .invoke(null, signal.getConstructor(String.class).newInstance(name));
    }

    private static Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName(name);
    }
}
