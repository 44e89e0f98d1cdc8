package io.millrace.bench.runner;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Comparisons that belong together. */
public interface Suite {
    void run(Session session) throws IOException, InterruptedException;

    /** All there are, by name, in the order in which {@code all} runs them. */
    static Map<String, Suite> all() {
        Map<String, Suite> suites = new LinkedHashMap<>();
        suites.put("echo", new EchoSuite());
        suites.put("relay", new RelaySuite());
        suites.put("direct", new DirectSuite());
        suites.put("tls", new TlsSuite());
        suites.put("redis", new RedisSuite());
        suites.put("http", new HttpSuite());
        suites.put("udp", new UdpSuite());
        suites.put("backplane", new BackplaneSuite());
        suites.put("netty", new NettySuite());
        suites.put("timers", JvmSuites::timers);
        suites.put("channels", JvmSuites::channels);
        suites.put("tasks", JvmSuites::tasks);
        suites.put("wakeup", JvmSuites::wakeUp);
        suites.put("memory", new MemorySuite());
        suites.put("watched", new WatchedSuite());
        return suites;
    }
}
