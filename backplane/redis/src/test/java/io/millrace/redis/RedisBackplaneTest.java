package io.millrace.redis;

import io.millrace.testkit.BackplaneContract;
import io.millrace.testkit.RedisProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("backplane over Redis")
class RedisBackplaneTest extends BackplaneContract {
    private static RedisProcess server;
    private static int cuts;

    @BeforeAll
    static void startServer() throws Exception {
        server = new RedisProcess();
    }

    @AfterAll
    static void endServer() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected void prepareEngine() throws Exception {
        server.command("FLUSHALL");
    }

    @Override
    protected String url() {
        return server.url();
    }

    @Override
    protected void stopEngine() throws Exception {
        server.kill();
    }

    @Override
    protected void startEngine(boolean withData) throws Exception {
        if (!withData) {
            server.forget();
        }
        server.start();
    }

    /** Those for commands, those that are subscribed, or both, in turn. */
    @Override
    protected void cutConnections() throws Exception {
        int cut = cuts++ % 3;
        if (cut != 1) {
            server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        }
        if (cut != 0) {
            server.command("CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes");
        }
    }
}
